import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import type { Window } from "../../charts/use-window.ts";
import { parseQuery } from "../../query-bar/parse-query.ts";
import type { Query } from "../../query-bar/query.ts";
import { toFilters } from "../../query-bar/to-filters.ts";

/** The spans that figures cover: a window and a query. */
export type Scope = { window: Window; query: string };

type PreviousQuery = { queryKey: readonly unknown[] } | undefined;

/**
 * Previous figures stay visible until those of the next window are loaded, but not those of another environment, query
 * or kind.
 *
 * @param key the query key without its environment
 */
export function figureOptions(
  environment: string,
  key: readonly unknown[],
  { window }: { window: Pick<Window, "isMoving"> },
) {
  const own = withoutWindow([environment, ...key]);
  return {
    placeholderData: <T>(before: T | undefined, previous: PreviousQuery): T | undefined =>
      previous !== undefined && withoutWindow(previous.queryKey) === own ? before : undefined,
    // Marks queries that `useFresh` refetches.
    meta: { isFigure: window.isMoving },
  };
}

const windowNames = new Set(["start_time", "end_time"]);

const withoutWindow = (key: readonly unknown[]): string =>
  JSON.stringify(key, (name, value: unknown) => (windowNames.has(name) ? undefined : value));

/** Invalid terms are left out: the query bar reports them. */
export const filtersOf = (query: string, more: Query = []) => toFilters([...parseQuery(query).query, ...more]);

type SeriesOptions = {
  metrics: readonly string[];
  groupBy?: string;
  top?: number;
  more?: Query;
  interval?: "1d" | "auto";
};

export function useTimeseries(
  scope: Scope,
  { metrics, groupBy, top = 8, more = [], interval = "auto" }: SeriesOptions,
) {
  const environment = useEnvironment();
  const { start, end, timeZone } = scope.window;
  const filters = filtersOf(scope.query, more);
  const query = {
    start_time: start,
    end_time: end,
    environment,
    interval,
    timezone: timeZone,
    metrics: metrics.join(","),
    ...(groupBy !== undefined && { group_by: groupBy, top }),
  };
  const key = ["timeseries", query, filters];
  return useApiQuery(
    key,
    (api, signal) =>
      bodyOf(api.POST("/api/request-logs/timeseries/", { params: { query }, body: { filters }, signal })),
    figureOptions(environment, key, scope),
  );
}
