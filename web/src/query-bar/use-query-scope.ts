import { useMemo } from "react";
import { windowOf, type RangeSearch } from "../lib/range.ts";
import { parseQuery } from "./parse-query.ts";
import { toFilters, type Filters } from "./to-filters.ts";

/** The filters and the window that the panels of a screen query. */
export type QueryScope = {
  query: string;
  filters: Filters;
  /** `reload` is part of the keys of queries: a window ends with its minute, and Reload reads again within it. */
  window: { start: string; end: string; reload: number };
  /** Why the query is not sent; the panels wait. */
  problem: string | undefined;
};

/** @param reload how often the user has asked to read again; this also moves a window that ends now */
export function useQueryScope(
  { q = "", range, from, to }: RangeSearch & { q?: string | undefined },
  reload: number,
): QueryScope {
  const window = useMemo(() => ({ ...windowOf({ range, from, to }), reload }), [range, from, to, reload]);
  return useMemo(() => {
    const { query, problems } = parseQuery(q);
    return { query: q, filters: toFilters(query), window, problem: problems[0]?.message };
  }, [q, window]);
}
