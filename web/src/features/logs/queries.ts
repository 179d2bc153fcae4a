import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bodyOf } from "../../api/client.ts";
import type { components } from "../../api/schema.gen.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { withoutField } from "../../query-bar/edit-query.ts";
import { parseQuery } from "../../query-bar/parse-query.ts";
import { toFilters, type Filters } from "../../query-bar/to-filters.ts";
import { toBars, type Bar } from "./histogram-data.ts";
import { asRows } from "./row.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";

/** A body with filters. */
export function filtersBody(filters: Filters): components["schemas"]["Filters"] {
  return { filters };
}

const pageSize = 100;

type PageStart = { page: number; page_after?: string };

const firstPage: PageStart = { page: 1 };

/** The list, page by page. Each page begins where the previous one ended, even if spans arrived meanwhile. */
export function useLogPages({ filters, window, problem }: QueryScope, sort: string, fields: string) {
  const api = useApi();
  const environment = useEnvironment();
  const pages = useInfiniteQuery({
    queryKey: [environment, "logs", "list", filters, window, sort, fields],
    enabled: problem === undefined,
    initialPageParam: firstPage,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...pageParam, page_size: pageSize, sort_by: sort, include_fields: fields, environment };
      const times = { start_time: window.start, end_time: window.end };
      const params = { query: { ...query, ...times } };
      return bodyOf(api.POST("/api/request-logs/list/", { params, body: filtersBody(filters), signal }));
    },
    getNextPageParam: ({ next }) => (next === null ? undefined : startOf(next)),
    placeholderData: keepPreviousData,
    // Comparing a thousand rows with their previous values takes longer than a frame.
    structuralSharing: false,
  });
  const rows = useMemo(() => asRows(pages.data?.pages.flatMap(({ results }) => results) ?? []), [pages.data]);
  return { ...pages, rows, count: pages.data?.pages[0]?.count };
}

function startOf(next: string): PageStart {
  const params = new URL(next).searchParams;
  const token = params.get("page_after");
  return { page: Number(params.get("page") ?? 1), ...(token !== null && { page_after: token }) };
}

/** Requests and errors over the window. */
export function useHistogram({ filters, window, problem }: QueryScope, timezone: string) {
  const environment = useEnvironment();
  return useApiQuery(
    ["logs", "histogram", filters, window, timezone],
    async (api, signal): Promise<Bar[]> => {
      const metrics = "number_of_requests,error_count";
      const params = { query: { start_time: window.start, end_time: window.end, metrics, timezone, environment } };
      const series = await bodyOf(
        api.POST("/api/request-logs/timeseries/", { params, body: filtersBody(filters), signal }),
      );
      const values = series.series[0]?.values ?? {};
      const { number_of_requests: requests = [], error_count: errors = [] } = values;
      return toBars({ buckets: series.buckets, requests, errors }, window.end);
    },
    { enabled: problem === undefined, placeholderData: keepPreviousData },
  );
}

export type FacetValue = { value: string; count: number };

/** The values of fields. Each field is counted without the query's own conditions on it, to show the alternatives. */
export function useFacets(scope: QueryScope, fields: readonly string[], options: { limit: number; search?: string }) {
  const environment = useEnvironment();
  const { query, window, problem } = scope;
  const { limit, search = "" } = options;
  return useApiQuery(
    ["logs", "facets", query, window, fields, limit, search],
    async (api, signal) => {
      const isFree = (field: string): boolean => withoutField(query, field) === query;
      const free = fields.filter(isFree);
      const requests = [
        ...(free.length > 0 ? [{ names: free, text: query }] : []),
        ...fields.filter((field) => !isFree(field)).map((name) => ({ names: [name], text: withoutField(query, name) })),
      ];
      const answers = await Promise.all(
        requests.map(({ names, text }) => {
          const times = { start_time: window.start, end_time: window.end, environment };
          const params = { fields: names.join(","), limit, ...(search !== "" && { search }) };
          const body = filtersBody(toFilters(parseQuery(text).query));
          return bodyOf(
            api.POST("/api/request-logs/facets/", { params: { query: { ...times, ...params } }, body, signal }),
          );
        }),
      );
      return {
        facets: new Map(
          answers.flatMap(({ facets }) => Object.entries(facets)).map(([name, values]) => [name, known(values)]),
        ),
        metadataKeys: answers[0]?.metadata_keys ?? [],
      };
    },
    { enabled: problem === undefined && fields.length > 0, placeholderData: keepPreviousData },
  );
}

function known(values: ReadonlyArray<{ value: string | number | null; count: number }>): FacetValue[] {
  return values.flatMap(({ value, count }) => (value === null ? [] : [{ value: String(value), count }]));
}
