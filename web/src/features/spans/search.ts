import { choiceOf, textOf } from "../../lib/search.ts";
import { spanTabs, type SpanTab } from "./span-tabs.ts";

/** The URL parameters of the page of a span; the default tab, the conversation, is omitted. */
export function parseSpanSearch(search: Record<string, unknown>): { tab?: SpanTab | undefined } {
  const tab = choiceOf(search, "tab", spanTabs);
  return tab === undefined ? {} : { tab };
}

/** The most spans compared side by side. */
export const comparedMax = 6;

/** The ids of the compared spans, separated by commas. */
export function parseCompareSearch(search: Record<string, unknown>): { spans?: string | undefined } {
  const spans = textOf(search, "spans");
  return spans === undefined ? {} : { spans };
}

export function readIds(text = ""): string[] {
  const ids = text.split(",").filter((id) => id !== "");
  return [...new Set(ids)].slice(0, comparedMax);
}

export const writeIds = (ids: readonly string[]): string | undefined => (ids.length === 0 ? undefined : ids.join(","));
