import { z } from "zod";
import { httpLimits } from "./limits.ts";

export type Page<Row> = {
  count: number;
  next: string | null;
  previous: string | null;
  results: Row[];
  warnings?: string[];
};

/** The schema of one page of rows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    count: z.int().min(0).meta({ description: "Rows on all pages." }),
    next: z.url().nullable().meta({ description: "Absolute URL of the next page." }),
    previous: z.url().nullable().meta({ description: "Absolute URL of the page before." }),
    results: z.array(row),
    warnings: z.array(z.string()).optional().meta({ description: "URL parameters that had no effect." }),
  });
}

/** The query parameter that carries the token of the next page, for lists that use tokens. */
export const pageTokenParameter = "page_after";

/**
 * Builds the response of one page. Links keep every other parameter of the request. A page past the end is empty, and
 * its `previous` links to the last page that is not.
 *
 * Lists that know better than `count` whether more rows follow set `hasNext`, and may set `nextToken` to where the next
 * page begins.
 */
export function paginate<Row>(options: {
  url: URL;
  page: number;
  pageSize: number;
  count: number;
  results: Row[];
  hasNext?: boolean;
  nextToken?: string | undefined;
  query?: object;
}): Page<Row> {
  const { url, page, pageSize, count, results, nextToken } = options;
  const lastPage = Math.max(1, Math.ceil(count / pageSize));
  const hasNext = options.hasNext ?? page < lastPage;
  return {
    count,
    next: hasNext && page < httpLimits.pageMax ? linkTo(url, page + 1, nextToken) : null,
    previous: page > 1 ? linkTo(url, Math.min(page - 1, lastPage)) : null,
    results,
    ...warningsOf(url, options.query),
  };
}

function warningsOf({ searchParams }: URL, query: object | undefined): { warnings?: string[] } {
  const names = query === undefined ? [] : [...new Set(searchParams.keys())];
  const unknown = names.filter((name) => query !== undefined && !Object.hasOwn(query, name));
  if (unknown.length === 0) return {};
  const named = unknown.slice(0, httpLimits.unknownMembersNamed).map((name) => name.slice(0, httpLimits.nameChars));
  return { warnings: named.map((name) => `${name} is not a parameter of this list and has no effect`) };
}

function linkTo(url: URL, page: number, token?: string): string {
  const link = new URL(url);
  link.searchParams.set("page", String(page));
  link.searchParams.delete(pageTokenParameter);
  if (token !== undefined) link.searchParams.set(pageTokenParameter, token);
  return link.href;
}

/**
 * The body of a list that is also served by POST and filtered only by query parameters: filters in the body would have
 * no effect.
 */
export const noFilters = { kind: "json", schema: z.strictObject({ filters: z.strictObject({}).optional() }) } as const;
