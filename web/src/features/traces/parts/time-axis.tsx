import { useRef, type ReactNode, type RefObject } from "react";
import { ticksOf, tickLabel, type TimeWindow } from "../model/axis.ts";
import { useSize } from "../use-size.ts";

const tickPx = 110;
const charPx = 7;
const marginPx = 4;

/** Round times of a window, by their distance from the left of an element. */
function useTicks(ref: RefObject<HTMLDivElement | null>, window: TimeWindow) {
  const { width } = useSize(ref);
  const { ticks, stepMs } = ticksOf(window, Math.max(2, Math.floor(width / tickPx)));
  const pxPerMs = width / (window.to - window.from);
  const places = width > 0 ? ticks.map((tick) => ({ tick, left: (tick - window.from) * pxPerMs })) : [];
  return { places, width, stepMs, stepPx: stepMs * pxPerMs };
}

/** Time labels above the bars. */
export function TimeAxis({ window }: { window: TimeWindow }): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const { places, width, stepMs, stepPx } = useTicks(ref, window);
  return (
    <div
      ref={ref}
      role="columnheader"
      aria-label="Time since the start of the trace"
      className="trace-axis relative min-w-0"
    >
      {places.map(({ tick, left }) => {
        const label = tickLabel(tick, stepMs);
        const labelPx = label.length * charPx + marginPx;
        const fits = left + labelPx <= width;
        // Left of its line, the last label needs space beside the label before it.
        const isShown = fits || stepPx >= 2 * labelPx;
        return (
          <div key={tick} className="absolute inset-y-0 w-px bg-line" style={{ left }}>
            {isShown && (
              <span className={`figures absolute top-1 whitespace-nowrap text-faint ${fits ? "left-1" : "right-1"}`}>
                {label}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** A line for each label through all rows that are in view, behind their bars. */
export function TimeLines({ window }: { window: TimeWindow }): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const { places } = useTicks(ref, window);
  return (
    <div aria-hidden className="trace-grid pointer-events-none sticky top-row h-0">
      <div ref={ref} className="trace-axis relative col-start-2">
        {places.map(({ tick, left }) => (
          <div
            key={tick}
            className="absolute top-0 h-[calc(100cqh-var(--spacing-row))] w-px bg-line"
            style={{ left }}
          />
        ))}
      </div>
    </div>
  );
}
