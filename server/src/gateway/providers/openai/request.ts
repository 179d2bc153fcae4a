import type { Target, UpstreamCall } from "../provider.ts";
import { anyDialect } from "../dialect.ts";
import type { OpenaiOperation, Quirks } from "../quirks.ts";
import { adaptChat } from "./adapt-chat.ts";

/** The body of a request as the caller sent it, and its members. */
export type CallerBody = {
  bytes: Buffer;
  /** Parsed, service parameters included. */
  members: Record<string, unknown>;
  /** The members without service parameters; the same object if there are none. */
  forProvider: Record<string, unknown>;
};

/**
 * Builds the call to an OpenAI-compatible upstream. The caller's own bytes are sent unless something in them has to
 * change: then the body is serialized again, keeping long digits.
 * @throws ServiceError naming a parameter that this provider does not support
 */
export function openaiCall(
  body: CallerBody,
  target: Target,
  { quirks, operation, requestsUsage }: { quirks: Quirks; operation: OpenaiOperation; requestsUsage: boolean },
): UpstreamCall {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: body.members["stream"] === true ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    "user-agent": "spanway",
  };
  if (target.credential.apiKey !== undefined) {
    const [name, value] = quirks.auth(target.credential.apiKey);
    headers[name] = value;
  }
  const url = target.baseUrl + quirks.path(operation, target);
  const adapted =
    operation === "chat" && quirks.dialect !== anyDialect
      ? adaptChat(body.forProvider, quirks.dialect, target)
      : undefined;
  const bytes = bodyOf(body, target.model, { quirks, operation, requestsUsage }, adapted?.changes ?? {});
  return { method: "POST", url, headers, body: bytes, ...(adapted && { adjusted: adapted.adjusted }) };
}

/** @param changes members in the provider's dialect; undefined for omitted ones */
function bodyOf(
  { bytes, members, forProvider }: CallerBody,
  model: string,
  { quirks, operation, requestsUsage }: { quirks: Quirks; operation: OpenaiOperation; requestsUsage: boolean },
  changes: Record<string, unknown>,
): Buffer {
  // Other operations use this member for something else.
  const options = operation === "chat" ? members["stream_options"] : undefined;
  if (members["model"] !== model) changes["model"] = model;
  if (members["stream"] === true && requestsUsage) {
    const given = typeof options === "object" && options !== null ? (options as Record<string, unknown>) : {};
    if (given["include_usage"] !== true) changes["stream_options"] = { ...given, include_usage: true };
  } else if (options !== undefined) changes["stream_options"] = undefined;
  for (const member of quirks.omit) if (members[member] !== undefined) changes[member] = undefined;
  for (const _change in changes) return Buffer.from(JSON.stringify({ ...forProvider, ...changes }));
  return forProvider === members ? bytes : Buffer.from(JSON.stringify(forProvider));
}
