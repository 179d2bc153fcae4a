import type { ReactNode } from "react";
import type { ChartSeries } from "./chart-data.ts";
import { Swatch } from "./swatch.tsx";

/** The colour legend of a small chart, if it has more than one series. */
export function LineLegend({ series }: { series: readonly ChartSeries[] }): ReactNode {
  if (series.length < 2) return null;
  return (
    <span className="flex gap-2 text-xs text-muted">
      {series.map(({ key, color, label }) => (
        <span key={key} className="flex items-center gap-1">
          <Swatch color={color} />
          {label}
        </span>
      ))}
    </span>
  );
}
