import { choiceOf, textOf } from "../../lib/search.ts";
import { panelIds, type PanelId } from "./panels.ts";

export type OverviewSearch = {
  /** A typed query: everything on the screen is about the spans that it finds. */
  q?: string | undefined;
  /** The chart that is shown large. */
  chart?: PanelId | undefined;
  /** What the large chart tells apart: a field by its typed name, `none` for nothing. */
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
