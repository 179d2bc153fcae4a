import { at } from "./at.ts";
import type { TraceBounds } from "./axis.ts";
import { spanFlags, type TraceSpans } from "./trace-spans.ts";

/**
 * The whole trace in a few pixels: the tree from top to bottom, time from left to right. Each pixel is the kind of a
 * span there plus 1, or 0 if there is none; `failedPixel` if a span failed.
 */
export function minimapPixels(
  spans: TraceSpans,
  { startMs, lengthMs }: TraceBounds,
  { width, height }: { width: number; height: number },
): Uint16Array {
  const pixels = new Uint16Array(width * height);
  // A few spans get the available height each, many share a line.
  const pitch = Math.min(5, height / Math.max(1, spans.count));
  const thickness = pitch < 2 ? 1 : Math.floor(pitch) - 1;
  for (let index = 0; index < spans.count; index += 1) {
    const from = columnAt((at(spans.starts, index) - startMs) / lengthMs, width);
    const to = columnAt((at(spans.finishes, index) - startMs) / lengthMs, width) + 1;
    if (Number.isNaN(from + to)) continue;
    const isFailed = (at(spans.flags, index) & spanFlags.failed) !== 0;
    const paint = isFailed ? failedPixel : Math.min(at(spans.kinds, index) + 1, failedPixel - 1);
    const top = Math.floor(index * pitch);
    for (let line = top; line < top + thickness; line += 1) {
      paintOver(pixels, paint, line * width + from, line * width + to);
    }
  }
  return pixels;
}

export const failedPixel = 65_535;

/** Later spans do not paint over a failure. */
function paintOver(pixels: Uint16Array, paint: number, from: number, to: number): void {
  for (let place = from; place < to; place += 1) if (pixels[place] !== failedPixel) pixels[place] = paint;
}

function columnAt(share: number, width: number): number {
  return Math.min(width - 1, Math.max(0, Math.floor(share * width)));
}
