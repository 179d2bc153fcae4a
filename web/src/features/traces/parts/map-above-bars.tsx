import type { ReactNode } from "react";
import { formatDuration } from "../../../lib/format.ts";
import type { TraceModel } from "../model/trace-model.ts";
import type { Zoom } from "../use-zoom.ts";
import { Minimap } from "./minimap.tsx";

/** The same as in trace.css: below this width the bars are below the names. */
const narrowPx = 560;

type MapProps = { model: TraceModel; zoom: Zoom; width: number; scroller: HTMLElement | null };

/** The whole trace above the bars, with the same width: a time has the same position in both. */
export function MapAboveBars({ model, zoom, width, scroller }: MapProps): ReactNode {
  const isNarrow = width <= narrowPx;
  const scrollbar = scroller === null ? 0 : scroller.offsetWidth - scroller.clientWidth;
  return (
    <div
      className="grid shrink-0"
      style={{
        gridTemplateColumns: isNarrow ? "minmax(0, 1fr)" : "var(--split) minmax(0, 1fr)",
        paddingRight: scrollbar,
      }}
    >
      {!isNarrow && (
        <div className="flex items-center justify-between border-b border-line px-2 text-xs text-faint">
          <span>The whole trace</span>
          <span className="figures">{formatDuration(model.bounds.lengthMs / 1000)}</span>
        </div>
      )}
      <Minimap model={model} zoom={zoom} />
    </div>
  );
}
