import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { windowBefore } from "../../charts/use-window.ts";
import type { Query } from "../../query-bar/query.ts";
import { figureOptions, filtersOf, useTimeseries, type Scope } from "../series/queries.ts";
import { allMetrics, modelCallMetrics, modelCallTypes } from "./panels.ts";

const ofModelCalls: Query = [
  { type: "field", field: "log_type", operator: "is", values: modelCallTypes, negated: false },
];

export const useAllSeries = (scope: Scope) => useTimeseries(scope, { metrics: allMetrics });
export const useModelCallSeries = (scope: Scope) =>
  useTimeseries(scope, { metrics: modelCallMetrics, more: ofModelCalls });

/** The figures of the previous window. */
export function useSummaryBefore(scope: Scope, isOfModelCalls: boolean) {
  const environment = useEnvironment();
  const { start, end } = windowBefore(scope.window);
  const filters = filtersOf(scope.query, isOfModelCalls ? ofModelCalls : []);
  const query = { start_time: start, end_time: end, environment };
  const key = ["summary", query, filters];
  return useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/request-logs/summary/", { params: { query }, body: { filters }, signal })),
    { ...figureOptions(environment, key, scope), meta: {} },
  );
}

export type GroupsOptions = { groupBy: string; sortBy: string; pageSize?: number; more?: Query };

export function useGroups(scope: Scope, { groupBy, sortBy, pageSize = 8, more = [] }: GroupsOptions) {
  const environment = useEnvironment();
  const { start, end } = scope.window;
  const filters = filtersOf(scope.query, more);
  const query = {
    start_time: start,
    end_time: end,
    environment,
    group_by: groupBy,
    sort_by: sortBy,
    page_size: pageSize,
  };
  const key = ["groups", query, filters];
  return useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/request-logs/groups/", { params: { query }, body: { filters }, signal })),
    figureOptions(environment, key, scope),
  );
}

const firstSpanMs = 1500;

/** The newest span of all time; null if there is none, in which case it polls until there is one. */
export function useNewestSpan(enabled: boolean) {
  const environment = useEnvironment();
  const query = {
    start_time: "1970-01-01T00:00:00Z",
    environment,
    page_size: 1,
    include_fields: "timestamp",
    sort_by: "-timestamp",
  };
  return useApiQuery(
    ["newest span", query],
    async (api, signal) => {
      const page = await bodyOf(
        api.POST("/api/request-logs/list/", { params: { query }, body: { filters: {} }, signal }),
      );
      return page.results[0] ?? null;
    },
    {
      enabled,
      staleTime: 0,
      refetchInterval: ({ state }) => (state.data === null ? firstSpanMs : false),
    },
  );
}
