import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { ownEnvironmentQuery } from "../../http/query.ts";
import { reply } from "../../http/reply.ts";
import type { RowOutcome, SpanIntake } from "../../ingest/accept/accept.ts";
import { originOf } from "../../ingest/normalize/normalize.ts";
import { httpLimits } from "../../http/limits.ts";
import { storageLimits } from "../../storage/limits.ts";
import { bulkResult, presentResult, readRows } from "./bulk-rows.ts";
import { readIdempotencyKey, readJsonBody, unknownWarnings, warningsOf } from "./span-ingest.ts";
import { spanBody, spanExample } from "./span-body.ts";

const createResult = bulkResult.extend({ warnings: unknownWarnings }).meta({ id: "BulkCreateResult" });

const bulkBody = z
  .object({ logs: z.array(spanBody).min(1).max(storageLimits.bulkRows) })
  .meta({ id: "BulkCreateBody" });

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
    body: { kind: "raw", maxBytes: httpLimits.requestBytes, documents: bulkBody, example: { logs: [spanExample] } },
    success: { status: 201, schema: createResult },
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

export function presentOutcomes(outcomes: readonly RowOutcome[]): z.input<typeof createResult> {
  const refusals = outcomes.map((outcome) => (outcome.ok ? undefined : outcome));
  return { ...presentResult(refusals, "accepted"), ...warningsOf(outcomes) };
}
