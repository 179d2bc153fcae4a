import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bodyOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.gen.ts";
import { useApi, useEnvironment } from "../../../api/use-api.ts";
import type { QueryScope } from "../../../query-bar/use-query-scope.ts";
import type { TraceOrder } from "./search.ts";
import { keyOfTrace, useTraceModels } from "./trace-models.ts";

export type TraceRow = components["schemas"]["Trace"];

const pageSize = 100;

/** Traces that have a matching span in the window, page by page. */
export function useTraces({ filters, window, problem }: QueryScope, sort: TraceOrder) {
  const api = useApi();
  const environment = useEnvironment();
  const pages = useInfiniteQuery({
    queryKey: [environment, "traces", "list", filters, window, sort],
    enabled: problem === undefined,
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) => {
      const times = { start_time: window.start, end_time: window.end };
      const params = { query: { page, page_size: pageSize, sort_by: sort, environment, ...times } };
      return bodyOf(api.POST("/api/traces/list/", { params, body: { filters }, signal }));
    },
    getNextPageParam: ({ next }, all) => (next === null ? undefined : all.length + 1),
    placeholderData: keepPreviousData,
  });
  // A trace that moved to the next page between two requests occurs twice.
  const rows = useMemo(() => {
    const all = pages.data?.pages.flatMap(({ results }) => results) ?? [];
    return [...new Map(all.map((row) => [keyOfTrace(row), row])).values()];
  }, [pages.data]);
  const models = useTraceModels(pages.data?.pages.map(({ results }) => results) ?? []);
  return { ...pages, rows, models, count: pages.data?.pages[0]?.count };
}

export type TracePages = ReturnType<typeof useTraces>;
