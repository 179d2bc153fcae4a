import { z } from "zod";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { timeWindow, timeWindowQuery } from "../../http/query.ts";
import type { TraceDeletions } from "../../jobs/trace-deletions.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { readTraceId } from "./trace-id.ts";
import { asEnvironment } from "./trace-scope.ts";

const deleted = z
  .object({
    message: z.string(),
    deleted_count: z.int().meta({ description: "1, or 0 if no span of the trace ended within the window." }),
    deleted_spans: z.int(),
    remaining_spans: z.int().meta({ description: "Spans outside the window, which remain." }),
    ...coverageSchema,
  })
  .omit({ warnings: true })
  .meta({ id: "DeletedTrace" });

type TraceDeleteDeps = { spans: SpanStore; traceDeletions: TraceDeletions; now: () => number };

export const deleteTrace = ({ spans, traceDeletions, now }: TraceDeleteDeps) =>
  endpoint({
    id: "delete_trace",
    method: "DELETE",
    path: "/api/traces/{trace_unique_id}/",
    summary: "Delete a trace",
    description:
      "Deletes the spans of the trace that ended within the window, by default the last hour. " +
      "They disappear from every read immediately and from the disk later; spans of it that are resent within a day stay " +
      "deleted.",
    tags: ["Traces"],
    auth: "key",
    permission: "traces:delete",
    environment: "own",
    limit: "api",
    query: z.object(timeWindowQuery()),
    success: { status: 200, schema: deleted },
    errors: ["invalid_request", "forbidden", "unavailable"],
    async handler({ principal, params, query, signal }) {
      const { startNs: fromNs, endNs: toNs } = timeWindow(query, now());
      const organization_id = principal.organization_id;
      const traceId = readTraceId(params.trace_unique_id);
      await traceDeletions.settle();
      const counts = await spans.countTraceSpans(
        { scope: { organization_id }, traceId, window: { fromNs, toNs } },
        signal,
      );
      const found = counts.find(({ environment }) => environment === principal.environment);
      const [elsewhere] = counts;
      if (found === undefined && elsewhere !== undefined) {
        requireOwnEnvironment(principal, asEnvironment(elsewhere.environment), "this trace");
      }
      if (found !== undefined && found.inWindow > 0) {
        const { environment } = principal;
        const deletion = { organization_id, environment, trace_unique_id: traceId, fromNs, toNs, deletedAtMs: now() };
        await traceDeletions.delete([deletion]);
      }
      const scope = { organization_id, environment: principal.environment };
      return {
        ...presentDeletion(found?.inWindow ?? 0, (found?.total ?? 0) - (found?.inWindow ?? 0)),
        ...coverageOf({ scope, window: { fromNs, toNs } }),
      };
    },
  });

function presentDeletion(deleted_spans: number, remaining_spans: number) {
  const spans = (count: number) => (count === 1 ? "1 span" : `${count} spans`);
  const stayed = remaining_spans === 0 ? "" : ` ${spans(remaining_spans)} outside the time window stayed.`;
  const message =
    deleted_spans === 0
      ? `No span of this trace ended within the time window; nothing was deleted.${stayed}`
      : `Trace deleted: ${spans(deleted_spans)}.${stayed}`;
  return { message, deleted_count: deleted_spans === 0 ? 0 : 1, deleted_spans, remaining_spans };
}
