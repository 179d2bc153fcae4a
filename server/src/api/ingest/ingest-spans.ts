import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import type { SpanIntake } from "../../ingest/accept/accept.ts";
import { originOf } from "../../ingest/normalize/normalize.ts";
import { isObject } from "../../lib/json.ts";
import { apiLimits } from "../limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { presentOutcomes } from "../request-logs/bulk-create-spans.ts";
import { readIdempotencyKey, readJsonBody, unknownWarnings, warningsOf } from "../request-logs/span-ingest.ts";
import { spanBody, spanExample } from "../request-logs/span-body.ts";

const ingested = z
  .object({
    message: z.string(),
    status: z.enum(["ok", "partial"]),
    ingested_spans: z.int().meta({ description: "Rows that passed validation and are on disk." }),
    error_count: z.int(),
    errors: z.array(
      z.looseObject({ index: z.int().meta({ description: "Index of the row, from 0." }), error: z.string() }),
    ),
    warnings: unknownWarnings,
  })
  .meta({ id: "IngestedSpans" });

const rows = z.array(spanBody);
const ingestBody = z.union([rows, z.object({ data: rows })]).meta({ id: "IngestBody" });

export const ingestSpans = (deps: { intake: SpanIntake }) =>
  endpoint({
    id: "ingest_spans",
    method: "POST",
    path: "/api/v1/traces/ingest",
    aliases: ["/api/integrations/v1/traces/ingest", "/api/openai/v1/traces/ingest", "/v1/traces/ingest"],
    summary: "Ingest spans of traces",
    description:
      "A list of spans, or `{data: [spans]}`, in any order: a child may arrive before its parent, in another request. " +
      "Rows are independent: 200 when at least one is accepted, with the others in `errors`. " +
      "An empty list is accepted and stores nothing.",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:ingest",
    body: {
      kind: "raw",
      maxBytes: httpLimits.requestBytes,
      documents: ingestBody,
      example: [{ ...spanExample, trace_unique_id: "quiz-1", span_unique_id: "step-1", span_name: "answer" }],
    },
    success: { status: 200, schema: ingested },
    errors: ["invalid_request", "payload_too_large", "unavailable"],
    async handler({ principal, body, headers }) {
      const spans = readSpans(readJsonBody(body.bytes));
      const outcomes = await deps.intake.accept(spans, originOf(principal, "tracing_integration"), {
        idempotencyKey: readIdempotencyKey(headers["idempotency-key"], body.bytes),
      });
      const { success_count, error_count, errors } = presentOutcomes(outcomes);
      if (success_count === 0 && error_count > 0) {
        const detail = "Every span was refused; see errors.";
        return reply(400, { detail, code: "invalid_request", message: detail, ingested_spans: 0, error_count, errors });
      }
      return {
        message: `${success_count} of ${outcomes.length} spans accepted`,
        status: error_count === 0 ? ("ok" as const) : ("partial" as const),
        ingested_spans: success_count,
        error_count,
        errors,
        ...warningsOf(outcomes),
      };
    },
  });

function readSpans(body: unknown): unknown[] {
  const spans = isObject(body) ? body["data"] : body;
  if (!Array.isArray(spans)) {
    const message = "the body must be a list of spans, or an object whose data is one";
    throw new ServiceError("invalid_request", `${message}.`, { errors: { data: [message] } });
  }
  if (spans.length > apiLimits.ingestRows) {
    const message = `A request must hold at most ${apiLimits.ingestRows} spans, not ${spans.length}.`;
    throw new ServiceError("payload_too_large", message);
  }
  return spans as unknown[];
}
