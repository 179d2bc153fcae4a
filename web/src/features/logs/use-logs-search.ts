import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { windowOf } from "../../lib/range.ts";
import { parseQuery } from "../../query-bar/parse-query.ts";
import { toFilters, type Filters } from "../../query-bar/to-filters.ts";
import type { PanelStep } from "../spans/use-panel-history.ts";
import type { LogsSearch } from "./search.ts";

const route = getRouteApi("/shell/logs");

/** The state of the screen, stored in the URL. */
export function useLogsSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const update = useCallback(
    (change: Partial<typeof search>, options: PanelStep = {}) => {
      void navigate({ search: (before) => ({ ...before, ...change }), ...options });
    },
    [navigate],
  );
  return { search, update };
}

/** The filters and window that the panels of the screen query. `reload` moves a window that ends now. */
export type LogsScope = {
  query: string;
  filters: Filters;
  window: { start: string; end: string };
  /** Why the query is not sent; the panels wait. */
  problem: string | undefined;
};

export function useLogsScope(
  { q = "", range, from, to }: LogsSearch & Parameters<typeof windowOf>[0],
  reload: number,
): LogsScope {
  // `reload` is no part of the window, but asks for a new one.
  // oxlint-disable-next-line react/exhaustive-deps
  const window = useMemo(() => windowOf({ range, from, to }), [range, from, to, reload]);
  return useMemo(() => {
    const { query, problems } = parseQuery(q);
    return { query: q, filters: toFilters(query), window, problem: problems[0]?.message };
  }, [q, window]);
}
