import {
  formatCost,
  formatCount,
  formatDuration,
  formatExactCost,
  formatInteger,
  formatNumber,
} from "../lib/format.ts";

export type FigureKind = "count" | "cost" | "duration" | "score";

type Format = (value: number | null | undefined) => string;

/** Formats for each kind of figure: short, and with every digit. */
export const figureFormats: Readonly<Record<FigureKind, { short: Format; exact: Format }>> = {
  count: { short: formatCount, exact: formatInteger },
  cost: { short: formatCost, exact: formatExactCost },
  score: { short: formatCount, exact: formatNumber },
  duration: { short: formatDuration, exact: formatDuration },
};
