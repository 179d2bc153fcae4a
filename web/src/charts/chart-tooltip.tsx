import type { ReactNode } from "react";
import { bucketLabel } from "./bucket-label.ts";
import { sumOf, type ChartData, type ChartSeries } from "./chart-data.ts";
import type { Shape } from "./plot-data.ts";
import { Swatch } from "./swatch.tsx";

const rowsMax = 12;

type TooltipProps = {
  data: ChartData;
  shown: readonly ChartSeries[];
  shape: Shape;
  bucket: number;
  left: number;
  width: number;
  timeZone: string;
  formatExact: (value: number | null) => string;
};

/** The exact values of one bucket, beside the crosshair. */
export function ChartTooltip({
  data,
  shown,
  shape,
  bucket,
  left,
  width,
  timeZone,
  formatExact,
}: TooltipProps): ReactNode {
  const valueOf = ({ values }: ChartSeries) => values[bucket] ?? null;
  const isStack = shape === "bars" && shown.length > 1;
  const rows = isStack
    ? shown.filter((series) => valueOf(series) !== null && valueOf(series) !== 0).toReversed()
    : shown;
  const isRight = left < width / 2;
  return (
    <div
      className="pointer-events-none absolute top-1 z-10 max-w-[min(280px,70%)] rounded-md border border-line-strong bg-panel px-2 py-1.5 text-xs"
      style={isRight ? { left: left + 10 } : { right: width - left + 10 }}
    >
      <div className="whitespace-nowrap text-muted">
        {bucketLabel(data.starts[bucket] ?? 0, data.ends[bucket] ?? 0, timeZone)}
      </div>
      {rows.slice(0, rowsMax).map((series) => (
        <div key={series.key} className="flex items-center gap-1.5">
          <Swatch color={series.color} />
          <span className="min-w-0 flex-1 truncate">{series.label}</span>
          <span className="figures pl-2">{formatExact(valueOf(series))}</span>
        </div>
      ))}
      {rows.length > rowsMax && <div className="text-faint">and {rows.length - rowsMax} more</div>}
      {isStack && (
        <div className="mt-0.5 flex justify-between border-t border-line pt-0.5">
          <span className="text-muted">total</span>
          <span className="figures pl-2">{formatExact(sumOf(shown.map(valueOf)))}</span>
        </div>
      )}
    </div>
  );
}
