import type { ReactNode } from "react";
import type { ChartSeries } from "./chart-data.ts";
import { Swatch } from "./swatch.tsx";

type LegendProps = {
  series: readonly ChartSeries[];
  hidden: ReadonlySet<string>;
  onToggle: (key: string) => void;
  format: (value: number | null) => string;
  formatExact: (value: number | null) => string;
};

/** Names, colours and totals. A click shows or hides a series. */
export function ChartLegend({ series, hidden, onToggle, format, formatExact }: LegendProps): ReactNode {
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-1 gap-y-0.5">
      {series.map(({ key, label, color, total }) => (
        <li key={key} className="max-w-full">
          <button
            type="button"
            aria-pressed={!hidden.has(key)}
            title={`${label}: ${formatExact(total)}`}
            className={`flex h-6 max-w-full items-center gap-1.5 rounded-sm px-1.5 text-xs hover:bg-raised ${hidden.has(key) ? "text-faint line-through" : ""}`}
            onClick={() => onToggle(key)}
          >
            <Swatch color={color} isHidden={hidden.has(key)} />
            <span className="max-w-56 truncate">{label}</span>
            <span className="figures text-muted">{format(total)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
