import type { Score } from "../domain/score.ts";
import { maxTimeNs, minTimeNs } from "../lib/time.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { Events, WebhookEvent } from "./events.ts";

/**
 * Publishes an event for each score, with the trace of its span: a deletion of the trace then removes the event too. Publishes nothing
 * for a score whose span does not exist any more.
 */
export function createScoreEvents(deps: {
  events: Pick<Events, "hasListeners" | "publishAll">;
  spans: Pick<SpanStore, "listSpans">;
  presentScore: (score: Score) => object;
}): (scores: readonly Score[]) => Promise<void> {
  const { events, spans, presentScore } = deps;
  return async (scores) => {
    const wanted = scores.filter((score) => events.hasListeners(scopeOf(score)));
    for (const [organizationId, ofOrganization] of Map.groupBy(wanted, (score) => score.unique_organization_id)) {
      const traces = await tracesOf(spans, organizationId, ofOrganization);
      await events.publishAll(
        ofOrganization.flatMap((score): WebhookEvent[] => {
          const trace = traces.get(keyOf(score.environment, score.log_id));
          if (trace === undefined) return [];
          const payload = () => presentScore(score);
          return [{ ...scopeOf(score), id: score.id, traceId: trace.id, payload }];
        }),
      );
    }
  };
}

function scopeOf({ unique_organization_id, environment }: Score) {
  return { type: "on_eval_result_ingested", organizationId: unique_organization_id, environment } as const;
}

const keyOf = (environment: unknown, logId: unknown): string => `${String(environment)} ${String(logId)}`;

/** The traces of the logs that exist; `id` is undefined for a log without a trace. */
async function tracesOf(
  spans: Pick<SpanStore, "listSpans">,
  organizationId: string,
  scores: readonly Score[],
): Promise<Map<string, { id: string | undefined }>> {
  const ids = [...new Set(scores.map(({ log_id }) => log_id))];
  const { rows } = await spans.listSpans({
    scope: { organization_id: organizationId },
    window: { fromNs: minTimeNs, toNs: maxTimeNs },
    filter: { sql: "unique_id IN {ids:Array(String)}", params: { ids }, columns: new Set(["unique_id"]) },
    sort: { field: "timestamp", descending: false },
    page: 1,
    // The same id may exist in both environments.
    pageSize: ids.length * 2,
    fields: ["environment", "trace_unique_id"],
  });
  return new Map(
    rows.map((row) => [
      keyOf(row["environment"], row["unique_id"]),
      { id: typeof row["trace_unique_id"] === "string" ? row["trace_unique_id"] : undefined },
    ]),
  );
}
