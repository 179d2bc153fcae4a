import { useQueries } from "@tanstack/react-query";
import { bodyOf } from "../../../api/client.ts";
import { useApi, useEnvironment } from "../../../api/use-api.ts";
import type { TraceRow } from "./queries.ts";

/** A model of a trace with what its calls cost. */
export type UsedModel = { model: string; total_cost: number; total_tokens: number; unpriced_count: number };

/** Models by trace, sorted by descending cost. A trace is absent until its models are loaded. */
export type TraceModels = ReadonlyMap<string, readonly UsedModel[]>;

export const keyOfTrace = (row: { environment: string; trace_unique_id: string }): string =>
  `${row.environment} ${row.trace_unique_id}`;

/** Groups of a request: ten models for each trace of a page. */
const groupsMax = 1000;

/** The models of traces with several calls; those of others are in their rows. */
export function useTraceModels(pages: readonly (readonly TraceRow[])[]): TraceModels {
  const api = useApi();
  const environment = useEnvironment();
  return useQueries({
    queries: pages.map((rows) => {
      const several = rows.filter(({ llm_call_count: calls }) => calls > 1);
      const ids = several.map(({ trace_unique_id: id }) => id);
      const query = {
        group_by: "trace,model",
        sort_by: "-total_cost",
        page_size: groupsMax,
        ...windowOf(several),
        environment,
      };
      const filters = { trace_unique_id: { operator: "in", value: ids }, model: { operator: "not_empty", value: [] } };
      return {
        queryKey: [environment, "traces", "models", ids, query],
        enabled: ids.length > 0,
        staleTime: 60_000,
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          bodyOf(api.POST("/api/request-logs/groups/", { params: { query }, body: { filters }, signal })),
      };
    }),
    combine,
  });
}

type Answer = { data: { results: readonly Record<string, unknown>[] } | undefined };

const combine = (answers: readonly Answer[]): TraceModels =>
  modelsByTrace(answers.flatMap(({ data }) => data?.results ?? []));

/** Times of traces have milliseconds, those of their spans nanoseconds. */
const roomMs = 1000;

function windowOf(traces: readonly TraceRow[]) {
  const starts = traces.map(({ start_time: time }) => Date.parse(time));
  const ends = traces.map(({ timestamp }) => Date.parse(timestamp));
  if (traces.length === 0) return {};
  return {
    start_time: new Date(Math.min(...starts) - roomMs).toISOString(),
    end_time: new Date(Math.max(...ends) + roomMs).toISOString(),
  };
}

type Group = UsedModel & { environment: string; trace_unique_id: string };

/** @param groups sorted by descending cost */
export function modelsByTrace(groups: readonly Record<string, unknown>[]): TraceModels {
  const found = new Map<string, UsedModel[]>();
  for (const group of groups as readonly Group[]) {
    const key = keyOfTrace(group);
    const models = found.get(key) ?? [];
    if (models.length === 0) found.set(key, models);
    models.push(group);
  }
  for (const models of found.values())
    models.sort((a, b) => b.total_cost - a.total_cost || b.total_tokens - a.total_tokens);
  return found;
}
