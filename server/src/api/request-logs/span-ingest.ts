import { hash } from "node:crypto";
import { z } from "zod";
import { badBody, ServiceError, type FieldErrors } from "../../domain/errors.ts";
import { domainLimits } from "../../domain/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import type { RowOutcome } from "../../ingest/accept/accept.ts";
import { countJsonNodes, parseJson } from "../../lib/json.ts";

/** The JSON of a raw body. @throws ServiceError `invalid_request`, `payload_too_large` */
export function readJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw badBody("is empty; a JSON object is expected");
  // A body of fewer bytes cannot contain more nodes.
  if (bytes.length > domainLimits.bodyNodes && countJsonNodes(bytes, domainLimits.bodyNodes) > domainLimits.bodyNodes) {
    throw new ServiceError(
      "payload_too_large",
      `The body must not hold more than ${domainLimits.bodyNodes} keys and values.`,
    );
  }
  const parsed = parseJson(bytes);
  // Probably a form, which curl sends by default.
  if (!parsed.ok && parsed.message.endsWith(" at character 1"))
    throw badBody(`is ${parsed.message}; send JSON, not a form`);
  if (!parsed.ok) throw badBody(`is ${parsed.message}`);
  return parsed.value;
}

/**
 * An identity of a request, so that repeating it stores nothing twice. It includes the body: the same key with another
 * body is another request, whose spans must not replace those accepted before.
 */
export function readIdempotencyKey(header: string | string[] | undefined, body: Buffer): string | undefined {
  if (header === undefined || header === "") return undefined;
  if (typeof header === "string" && header.length <= domainLimits.identifierChars) {
    return `${header}\n${hash("sha256", body, "hex")}`;
  }
  const message = `Idempotency-Key must be one value of at most ${domainLimits.identifierChars} characters`;
  throw new ServiceError("invalid_request", message, { errors: { "Idempotency-Key": [message] } });
}

/** `cost must not be negative; model must be a string` */
export function sentenceOf(errors: FieldErrors): string {
  return Object.entries(errors)
    .flatMap(([field, messages]) => messages.map((message) => `${field} ${message}`))
    .join("; ");
}

/** For responses to ingested spans. */
export const unknownWarnings = z.array(z.string()).optional().meta({
  description: "Names members that are not fields of spans and were ignored. Absent if there are none.",
});

/** The value of a misspelled field is lost: the sender gets a warning. */
export function warningsOf(outcomes: readonly RowOutcome[]): { warnings?: string[] } {
  const names = new Set<string>();
  for (const outcome of outcomes) {
    if (!outcome.ok || outcome.unknown === undefined) continue;
    for (const name of outcome.unknown) if (names.size < httpLimits.unknownMembersNamed) names.add(name);
  }
  if (names.size === 0) return {};
  return { warnings: [...names].map((name) => `${name} is not a field of spans and was passed over`) };
}
