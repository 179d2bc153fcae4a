import { choiceOf, textOf } from "../../lib/search.ts";
import { spanTabs, type SpanTab } from "../spans/span-tabs.ts";

/** What the list of spans has in its URL beside the shared parameters. */
export type LogsSearch = {
  /** The typed query. */
  q?: string | undefined;
  /** A field, descending with `-`. Absent: newest first. */
  sort?: string | undefined;
  /** Ids of columns in order. Absent: the usual ones. */
  cols?: string | undefined;
  /** The span that is open beside the list, and its tab. */
  span?: string | undefined;
  tab?: SpanTab | undefined;
  /** Spans come in as they arrive. */
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

/** The order after a click on a column: largest first, then smallest first, then the usual order again. */
export function nextSort(sort: string | undefined, field: string): string | undefined {
  if (sort === `-${field}` || (sort === undefined && field === "timestamp")) return field;
  return sort === field ? undefined : `-${field}`;
}
