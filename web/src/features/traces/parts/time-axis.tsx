import { useRef, type ReactNode } from "react";
import { ticksOf, tickLabel, type TimeWindow } from "../model/axis.ts";
import { useSize } from "../use-size.ts";

const tickPx = 110;

/** Time labels above the bars, each with a line through the whole view. */
export function TimeAxis({ window }: { window: TimeWindow }): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const { width } = useSize(ref);
  const { ticks, stepMs } = ticksOf(window, Math.max(2, Math.floor(width / tickPx)));
  const length = window.to - window.from;
  return (
    <div
      ref={ref}
      role="columnheader"
      aria-label="Time since the start of the trace"
      className="trace-axis relative min-w-0"
    >
      {width > 0 &&
        ticks.map((tick) => {
          const left = ((tick - window.from) / length) * width;
          const isLast = left > width - 56;
          return (
            <div key={tick} className="absolute inset-y-0" style={{ left }}>
              <span className={`figures absolute top-1 whitespace-nowrap text-faint ${isLast ? "right-1" : "left-1"}`}>
                {tickLabel(tick, stepMs)}
              </span>
              <div className="pointer-events-none absolute top-0 left-0 h-[100cqh] w-px bg-line" />
            </div>
          );
        })}
    </div>
  );
}
