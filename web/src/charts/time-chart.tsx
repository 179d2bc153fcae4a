import type { ReactNode } from "react";
import { lazyPart } from "../ui/lazy-part.tsx";
import type { ChartProps } from "./chart-canvas.tsx";

/** A chart over time. Its drawing code is loaded when the first chart is shown. */
export const TimeChart = lazyPart<ChartProps>(
  async () => (await import("./chart-canvas.tsx")).ChartCanvas,
  ({ height }) => <ChartSkeleton height={height} />,
);

/** As high as the chart that replaces it, so that the layout does not shift. */
export function ChartSkeleton({ height }: { height: number }): ReactNode {
  return (
    <div aria-busy className="flex w-full items-end gap-[3px] pb-[22px] pl-12" style={{ height }}>
      {heights.map((share, at) => (
        <div key={at} className="flex-1 animate-pulse rounded-[1px] bg-raised" style={{ height: `${share}%` }} />
      ))}
    </div>
  );
}

const heights = Array.from({ length: 30 }, (_, at) => 22 + 14 * Math.sin(at / 2.3) + 9 * Math.sin(at * 1.7));
