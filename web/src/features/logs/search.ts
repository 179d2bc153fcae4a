import { choiceOf, textOf } from "../../lib/search.ts";
import { spanTabs, type SpanTab } from "../spans/span-tabs.ts";

/** The URL parameters of the list of spans, in addition to the shared ones. */
export type LogsSearch = {
  /** The query as typed. */
  q?: string | undefined;
  /** A field name, descending with `-`. Absent: newest first. */
  sort?: string | undefined;
  /** Column ids in order. Absent: the default columns. */
  cols?: string | undefined;
  /** The span open beside the list, and its tab. */
  span?: string | undefined;
  tab?: SpanTab | undefined;
  /** Whether spans appear as they arrive. */
  live?: "on" | undefined;
};

export function parseLogsSearch(search: Record<string, unknown>): LogsSearch {
  const q = textOf(search, "q");
  const sort = textOf(search, "sort");
  const cols = textOf(search, "cols");
  const span = textOf(search, "span");
  const tab = choiceOf(search, "tab", spanTabs);
  return {
    ...(q !== undefined && { q }),
    ...(sort !== undefined && sort !== defaultSort && { sort }),
    ...(cols !== undefined && { cols }),
    ...(span !== undefined && { span }),
    ...(tab !== undefined && { tab }),
    ...(search["live"] === "on" && { live: "on" }),
  };
}

export const defaultSort = "-timestamp";

/** The sort order after a click on a column: descending, then ascending, then the default. */
export function nextSort(sort: string | undefined, field: string): string | undefined {
  if (sort === `-${field}` || (sort === undefined && field === "timestamp")) return field;
  return sort === field ? undefined : `-${field}`;
}
