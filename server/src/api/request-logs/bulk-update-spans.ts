import { z } from "zod";
import { errorCodes, ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { isObject } from "../../lib/json.ts";
import { httpLimits } from "../../http/limits.ts";
import { storageLimits } from "../../storage/limits.ts";
import { bulkResult, presentResult, readRows } from "./bulk-rows.ts";
import { readJsonBody } from "./span-ingest.ts";
import {
  changeSpans,
  readSpanChange,
  spanChangeExample,
  spanChangeSchema,
  type SentChange,
  type SpanChangeDeps,
} from "./span-changes.ts";

const body = z
  .object({
    logs: z
      .array(spanChangeSchema.extend({ unique_id: z.string() }))
      .min(1)
      .max(storageLimits.bulkRows),
  })
  .meta({ id: "BulkUpdateBody" });

const example = { logs: [{ unique_id: "c5a39bb5-13ca-48d5-99fa-e84d7f8e1324", ...spanChangeExample }] };

export const bulkUpdateSpans = (deps: SpanChangeDeps) =>
  endpoint({
    id: "bulk_update_spans",
    method: "PATCH",
    path: "/api/request-logs/batch-update/",
    aliases: ["/request-logs/batch-update/"],
    summary: "Note, pin and rate up to 500 spans",
    description:
      "Rows are independent: 200 when at least one span is changed, with the others in `errors`. Changes of the same span are applied in " +
      "their order.",
    tags: ["Spans"],
    auth: "key",
    permission: "scores:write",
    environment: "own",
    limit: "api",
    waitsInQueue: true,
    body: { kind: "raw", maxBytes: httpLimits.requestBytes, documents: body, example },
    success: { status: 200, schema: bulkResult },
    errors: ["invalid_request", "forbidden", "payload_too_large", "too_many_rows", "query_too_large", "unavailable"],
    async handler({ principal, body: { bytes }, signal }) {
      const read = readRows(readJsonBody(bytes)).map(readRow);
      const sent = read.flatMap((row) => (row instanceof ServiceError ? [] : [row]));
      const outcomes = await changeSpans(deps, principal, sent, signal);
      let next = 0;
      const errors = read.map((row) => {
        const outcome = row instanceof ServiceError ? row : outcomes[next++];
        return outcome instanceof ServiceError ? { code: outcome.code, errors: outcome.errors ?? {} } : undefined;
      });
      const result = presentResult(errors, "changed");
      if (result.success_count > 0) return result;
      const detail = "No span was changed; see errors.";
      const isElsewhere = errors.every((error) => error?.code === "forbidden");
      const code = isElsewhere ? "forbidden" : "invalid_request";
      return reply(errorCodes[code], { detail, code, ...result, message: detail });
    },
  });

function readRow(row: unknown): SentChange | ServiceError {
  try {
    const unique_id = isObject(row) ? row["unique_id"] : undefined;
    const change = readSpanChange(row, ["unique_id"]);
    if (typeof unique_id === "string") return { unique_id, change };
    const message = "must be the id of a span";
    return new ServiceError("invalid_request", `unique_id ${message}.`, { errors: { unique_id: [message] } });
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
