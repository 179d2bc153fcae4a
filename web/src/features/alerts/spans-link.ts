import { fromFilters } from "../../query-bar/from-filters.ts";
import { printQuery } from "../../query-bar/print-query.ts";

export type LogsLink = { q?: string | undefined; range: undefined; from: string; to: string; env: "test" | undefined };

/**
 * A link to the logs screen with the spans that the API's URL lists.
 *
 * @returns undefined if the query language cannot express its filters
 */
export function logsLinkOf(spansUrl: string): LogsLink | undefined {
  const params = URL.parse(spansUrl, "http://path.invalid")?.searchParams;
  const from = isoOf(params?.get("start_time"));
  const to = isoOf(params?.get("end_time"));
  if (params === undefined || from === undefined || to === undefined) return undefined;
  const terms = partsOf(params.get("filters")).map((part) => fromFilters(part));
  const query = terms.flatMap((each) => each ?? []);
  if (terms.includes(undefined)) return undefined;
  return {
    q: query.length === 0 ? undefined : printQuery(query),
    range: undefined,
    from,
    to,
    env: params.get("environment") === "test" ? "test" : undefined,
  };
}

/** The filters of the rule and the conditions of the group, all of which must hold. */
function partsOf(filters: string | null): readonly unknown[] {
  if (filters === null) return [];
  const { filter_params } = JSON.parse(filters) as { filter_params?: unknown };
  return Array.isArray(filter_params) ? (filter_params as unknown[]) : [undefined];
}

function isoOf(text: string | null | undefined): string | undefined {
  const date = new Date(text ?? "");
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
