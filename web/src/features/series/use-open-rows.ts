import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { TimeRange } from "../../charts/chart-canvas.tsx";
import type { Term } from "../../query-bar/query.ts";
import { withTerms } from "./rows-behind.ts";

type RowsSearch = { q?: string | undefined; sort?: string | undefined; range?: undefined; from?: string; to?: string };

/** Links to the spans behind a figure: the screen's query with more terms, in its window or a part of it. */
export function useOpenRows(query: string) {
  const navigate = useNavigate();
  return useMemo(() => {
    const search = (terms: readonly Term[], range?: TimeRange, sort?: string): RowsSearch => ({
      q: withTerms(query, terms),
      sort,
      ...(range !== undefined && { range: undefined, ...range }),
    });
    return {
      search,
      open: (terms: readonly Term[], range?: TimeRange, sort?: string) =>
        void navigate({ to: "/logs", search: search(terms, range, sort) }),
    };
  }, [navigate, query]);
}
