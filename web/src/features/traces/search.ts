import { spanTabs, type SpanTab } from "../spans/span-tabs.ts";
import type { PanelStep } from "../spans/use-panel-history.ts";
import { choiceOf, listOf, textOf } from "../../lib/search.ts";

export const flameWeights = ["time", "cost", "tokens"] as const;
export type FlameWeight = (typeof flameWeights)[number];

/** The URL parameters of a trace, in addition to the shared ones. Default values are omitted. */
export type TraceSearch = {
  /** `unique_id` of the open span, and the tab of its panel. */
  span?: string | undefined;
  panel?: SpanTab | undefined;
  tab?: "flame" | undefined;
  /** `from-to`, milliseconds since the start of the trace. */
  zoom?: string | undefined;
  find?: string | undefined;
  /** Folded kinds (`*`: all), and hidden kinds. */
  fold?: string[] | undefined;
  hide?: string[] | undefined;
  /** For the flame graph: the weight of bars, whether each span is its own bar, and the focused bar. */
  weight?: FlameWeight | undefined;
  each?: "1" | undefined;
  focus?: string | undefined;
  path?: "off" | undefined;
};

export function parseTraceSearch(search: Record<string, unknown>): TraceSearch {
  const found: TraceSearch = {
    span: textOf(search, "span"),
    panel: choiceOf(search, "panel", spanTabs),
    tab: choiceOf(search, "tab", ["flame"]),
    zoom: textOf(search, "zoom"),
    find: textOf(search, "find"),
    fold: listOf(search, "fold"),
    hide: listOf(search, "hide"),
    weight: choiceOf(search, "weight", flameWeights),
    each: choiceOf(search, "each", ["1"]),
    focus: textOf(search, "focus"),
    path: choiceOf(search, "path", ["off"]),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

export type ChangeSearch = (change: Partial<TraceSearch>, how?: PanelStep) => void;
