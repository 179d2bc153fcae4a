import { useEffect, useRef, useState, type PointerEvent, type ReactNode } from "react";
import type { TimeWindow } from "../model/axis.ts";
import { failedPixel, minimapPixels } from "../model/minimap.ts";
import type { TraceModel } from "../model/trace-model.ts";
import { readColors, useThemeChanges } from "../colors.ts";
import { kindStyle } from "../kinds.ts";
import { useSize } from "../use-size.ts";
import type { Zoom } from "../use-zoom.ts";

const heightPx = 44;
/** A shorter drag is a click, which resets the zoom. */
const leastDragPx = 4;

/** The whole trace: drag across it to zoom, drag the selection to move it. */
export function Minimap({ model, zoom }: { model: TraceModel; zoom: Zoom }): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const { width } = useSize(ref);
  const { lengthMs } = model.bounds;
  const [drag, setDrag] = useState<Drag>();
  const msAt = (event: PointerEvent) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    return (Math.min(Math.max(event.clientX - left, 0), width) / Math.max(1, width)) * lengthMs;
  };
  const start = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const ms = msAt(event);
    const isInside = !zoom.isWhole && ms >= zoom.window.from && ms <= zoom.window.to;
    setDrag({ from: ms, to: ms, moves: isInside ? zoom.window : undefined });
  };
  const move = (event: PointerEvent) => {
    if (drag === undefined) return;
    const to = msAt(event);
    setDrag({ ...drag, to });
    if (drag.moves !== undefined) zoom.show(shifted(drag.moves, to - drag.from, lengthMs));
  };
  const end = () => {
    setDrag(undefined);
    if (drag === undefined || drag.moves !== undefined) return;
    const isClick = (Math.abs(drag.to - drag.from) / lengthMs) * width < leastDragPx;
    if (isClick) zoom.reset();
    else zoom.show(sorted(drag));
  };
  const shown = drag !== undefined && drag.moves === undefined ? sorted(drag) : zoom.window;
  return (
    <div
      ref={ref}
      role="img"
      aria-label="The whole trace. Drag across it to zoom in; click to show all of it."
      className="relative cursor-crosshair touch-none overflow-hidden border-b border-line bg-panel select-none"
      style={{ height: heightPx }}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
    >
      <Pixels model={model} width={Math.floor(width)} />
      {(!zoom.isWhole || drag !== undefined) && <Shades window={shown} lengthMs={lengthMs} />}
    </div>
  );
}

type Drag = { from: number; to: number; moves: TimeWindow | undefined };

const sorted = ({ from, to }: Drag): TimeWindow => ({ from: Math.min(from, to), to: Math.max(from, to) });

function shifted({ from, to }: TimeWindow, byMs: number, lengthMs: number): TimeWindow {
  const start = Math.min(Math.max(from + byMs, 0), lengthMs - (to - from));
  return { from: start, to: start + to - from };
}

function Shades({ window, lengthMs }: { window: TimeWindow; lengthMs: number }): ReactNode {
  const share = (ms: number) => `${Math.min(Math.max((ms / lengthMs) * 100, 0), 100)}%`;
  return (
    <>
      <div className="absolute inset-y-0 left-0 bg-bg/70" style={{ width: share(window.from) }} />
      <div className="absolute inset-y-0 right-0 bg-bg/70" style={{ width: share(lengthMs - window.to) }} />
      <div
        className="absolute inset-y-0 cursor-grab border-x border-accent bg-accent/8"
        style={{ left: share(window.from), width: share(window.to - window.from) }}
      />
    </>
  );
}

function Pixels({ model, width }: { model: TraceModel; width: number }): ReactNode {
  const ref = useRef<HTMLCanvasElement>(null);
  const theme = useThemeChanges();
  const { spans, bounds } = model;
  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || width === 0) return;
    canvas.width = width;
    canvas.height = heightPx;
    const colors = readColors(["--error", ...spans.kindNames.map((kind) => kindStyle(kind).color)]);
    const pixels = minimapPixels(spans, bounds, { width, height: heightPx });
    const image = context.createImageData(width, heightPx);
    const words = new Uint32Array(image.data.buffer);
    for (const [place, pixel] of pixels.entries()) {
      if (pixel !== 0) words[place] = colors[pixel === failedPixel ? 0 : pixel] ?? 0;
    }
    context.putImageData(image, 0, 0);
  }, [spans, bounds, width, theme]);
  return <canvas ref={ref} aria-hidden className="absolute inset-0 h-full w-full" />;
}
