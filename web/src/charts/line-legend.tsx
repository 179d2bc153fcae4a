import type { ReactNode } from "react";
import type { ChartSeries } from "./chart-data.ts";
import { Swatch } from "./swatch.tsx";

/** Names the colours of a small chart, where it has more than one. */
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
