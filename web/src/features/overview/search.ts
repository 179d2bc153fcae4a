import { choiceOf, textOf } from "../../lib/search.ts";
import { panelIds, type PanelId } from "./panels.ts";

export type OverviewSearch = {
  /** The query as typed: everything on the screen is about the spans that it matches. */
  q?: string | undefined;
  /** The chart that is enlarged. */
  chart?: PanelId | undefined;
  /** The grouping of the large chart: a field by its name in queries, or `none`. */
  by?: string | undefined;
  view?: "table" | undefined;
};

export function parseOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const q = textOf(search, "q");
  const chart = choiceOf(search, "chart", panelIds);
  const by = textOf(search, "by");
  const view = choiceOf(search, "view", ["table"]);
  return { ...(q && { q }), ...(chart && { chart }), ...(by && { by }), ...(view && { view }) };
}
