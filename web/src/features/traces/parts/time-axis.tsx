import { useRef, type ReactNode } from "react";
import { ticksOf, tickLabel, type TimeWindow } from "../model/axis.ts";
import { useSize } from "../use-size.ts";

const tickPx = 110;
const charPx = 7;
const marginPx = 4;

/** Time labels above the bars, each with a line through the whole view. */
export function TimeAxis({ window }: { window: TimeWindow }): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const { width } = useSize(ref);
  const { ticks, stepMs } = ticksOf(window, Math.max(2, Math.floor(width / tickPx)));
  const pxPerMs = width / (window.to - window.from);
  return (
    <div
      ref={ref}
      role="columnheader"
      aria-label="Time since the start of the trace"
      className="trace-axis relative min-w-0"
    >
      {width > 0 &&
        ticks.map((tick) => {
          const left = (tick - window.from) * pxPerMs;
          const label = tickLabel(tick, stepMs);
          const labelPx = label.length * charPx + marginPx;
          const fits = left + labelPx <= width;
          // Left of its line, the last label needs space beside the label before it.
          const isShown = fits || stepMs * pxPerMs >= 2 * labelPx;
          return (
            <div key={tick} className="absolute inset-y-0" style={{ left }}>
              {isShown && (
                <span className={`figures absolute top-1 whitespace-nowrap text-faint ${fits ? "left-1" : "right-1"}`}>
                  {label}
                </span>
              )}
              <div className="pointer-events-none absolute top-0 left-0 h-[100cqh] w-px bg-line" />
            </div>
          );
        })}
    </div>
  );
}
