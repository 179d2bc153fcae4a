import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { ownEnvironmentQuery } from "../../http/query.ts";
import { reply } from "../../http/reply.ts";
import type { RefusedRow, RowOutcome, SpanIntake } from "../../ingest/accept.ts";
import { isObject } from "../../lib/json.ts";
import { limits } from "../../limits.ts";
import { originOf, readIdempotencyKey, readJsonBody, sentenceOf } from "./read-span-bodies.ts";
import { spanBody, spanExample } from "./span-body.ts";
import { unknownWarnings, warningsOf } from "./unknown-warnings.ts";

const rowError = z.object({
  index: z.int().min(0).meta({ description: "Place of the row in `logs`, from 0." }),
  error: z.string(),
  code: z.string(),
  errors: z.record(z.string(), z.array(z.string())),
});

const bulkResult = z
  .object({
    success_count: z.int().meta({ description: "Rows that passed validation and are on disk." }),
    error_count: z.int(),
    errors: z.array(rowError),
    message: z.string(),
    warnings: unknownWarnings,
  })
  .meta({ id: "BulkCreateResult" });

const bulkBody = z.object({ logs: z.array(spanBody).min(1).max(limits.bulkRows) }).meta({ id: "BulkCreateBody" });

export const bulkCreateSpans = (deps: { intake: SpanIntake }) =>
  endpoint({
    id: "bulk_create_spans",
    method: "POST",
    path: "/api/request-logs/bulk/",
    aliases: ["/request-logs/bulk/"],
    summary: "Create up to 500 spans",
    description:
      "Rows are independent: 201 when at least one is accepted, with the others in `errors`. " +
      "30 requests a minute per organization, shared by its keys; per user for an access token, " +
      "whose spans go to the environment of the query (default prod).",
    tags: ["Spans"],
    auth: "key_or_user",
    permission: "spans:ingest",
    limit: "bulk_create",
    query: z.object(ownEnvironmentQuery()),
    body: { kind: "raw", maxBytes: limits.requestBytes, documents: bulkBody, example: { logs: [spanExample] } },
    success: { status: 201, schema: bulkResult },
    errors: ["invalid_request", "forbidden", "payload_too_large", "too_many_rows", "unavailable"],
    async handler({ principal, query, body, headers }) {
      const rows = readRows(readJsonBody(body.bytes));
      const outcomes = await deps.intake.accept(rows, originOf(principal, "logging_api", query.environment), {
        idempotencyKey: readIdempotencyKey(headers["idempotency-key"], body.bytes),
      });
      const result = presentOutcomes(outcomes);
      if (result.success_count > 0) return result;
      const detail = "Every row was refused; see errors.";
      return reply(400, { detail, code: "invalid_request", ...result, message: detail });
    },
  });

function readRows(body: unknown): unknown[] {
  const logs = isObject(body) ? body["logs"] : undefined;
  if (Array.isArray(body)) throw invalidLogs('logs must stand in an object: {"logs": [...]}');
  if (!Array.isArray(logs)) throw invalidLogs("logs must be a list of span objects");
  if (logs.length === 0) throw invalidLogs("logs must not be empty");
  if (logs.length > limits.bulkRows) {
    const message = `logs must hold at most ${limits.bulkRows} rows, not ${logs.length}`;
    throw new ServiceError("too_many_rows", `${message}.`, { errors: { logs: [message] } });
  }
  return logs as unknown[];
}

function invalidLogs(message: string): ServiceError {
  return new ServiceError("invalid_request", `${message}.`, { errors: { logs: [message] } });
}

export function presentOutcomes(outcomes: readonly RowOutcome[]): z.input<typeof bulkResult> {
  const errors = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [presentRefusal(outcome, index)]));
  const success_count = outcomes.length - errors.length;
  return {
    success_count,
    error_count: errors.length,
    errors,
    message: `${success_count} of ${outcomes.length} logs accepted`,
    ...warningsOf(outcomes),
  };
}

function presentRefusal({ code, errors }: RefusedRow, index: number): z.input<typeof rowError> {
  return { index, error: sentenceOf(errors), code, errors };
}
