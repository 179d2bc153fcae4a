import { z } from "zod";
import { limits } from "../limits.ts";

export type Page<Row> = { count: number; next: string | null; previous: string | null; results: Row[] };

/** The schema of one page of rows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    count: z.int().min(0).meta({ description: "Rows on all pages." }),
    next: z.url().nullable().meta({ description: "Absolute URL of the next page." }),
    previous: z.url().nullable().meta({ description: "Absolute URL of the page before." }),
    results: z.array(row),
  });
}

/**
 * One page as an answer. Links keep every other parameter of the request.
 * A page past the end is empty, and its `previous` leads back to the last page that is not.
 */
export function paginate<Row>(options: {
  url: URL;
  page: number;
  pageSize: number;
  count: number;
  results: Row[];
}): Page<Row> {
  const { url, page, pageSize, count, results } = options;
  const lastPage = Math.max(1, Math.ceil(count / pageSize));
  return {
    count,
    next: page < lastPage && page < limits.pageMax ? linkTo(url, page + 1) : null,
    previous: page > 1 ? linkTo(url, Math.min(page - 1, lastPage)) : null,
    results,
  };
}

function linkTo(url: URL, page: number): string {
  const link = new URL(url);
  link.searchParams.set("page", String(page));
  return link.href;
}

/** The body of a list that is also asked for by POST, and filtered by parameters alone: filters here would change nothing. */
export const noFilters = { kind: "json", schema: z.strictObject({ filters: z.strictObject({}).optional() }) } as const;
