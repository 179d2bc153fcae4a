import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import uPlot from "uplot";
import type { ChartData } from "./chart-data.ts";
import { plotData } from "./plot-data.ts";
import { plotOptions, type PlotStyle } from "./plot-options.ts";
import { useThemeVersion } from "./use-theme-version.ts";
import { useWidth } from "./use-width.ts";

type PlotInput = Omit<PlotStyle, "width" | "color" | "isTouch"> & {
  data: ChartData;
  hidden: ReadonlySet<string>;
  onSelect: ((from: number, to: number) => void) | undefined;
};

/**
 * Creates a plot in an element, and again when its data or the theme changes. `bucket` is the position of its
 * crosshair.
 */
export function usePlot(element: RefObject<HTMLDivElement | null>, input: PlotInput) {
  const { data, hidden, shape, height, timeZone, format, isWhole, syncKey } = input;
  const width = useWidth(element);
  const theme = useThemeVersion();
  const plot = useRef<uPlot>(undefined);
  const onSelect = useRef(input.onSelect);
  const [bucket, setBucket] = useState<number>();
  const isZoomable = input.onSelect !== undefined;
  const isSized = width > 0;

  useEffect(() => {
    onSelect.current = input.onSelect;
  });

  useLayoutEffect(() => {
    const parent = element.current;
    if (parent === null || !isSized) return undefined;
    const styles = getComputedStyle(parent);
    const style: PlotStyle = {
      width: parent.clientWidth,
      height,
      shape,
      timeZone,
      format,
      isWhole,
      syncKey,
      color: (name) => styles.getPropertyValue(name).trim(),
      isTouch: matchMedia("(pointer: coarse)").matches,
    };
    const select = isZoomable ? (from: number, to: number) => onSelect.current?.(from, to) : undefined;
    const options = plotOptions(data, style, { onCursor: setBucket, onSelect: select });
    const made = new uPlot(options, plotData(data, shape, hidden), parent);
    plot.current = made;
    return () => {
      plot.current = undefined;
      made.destroy();
      setBucket(undefined);
    };
  }, [element, isSized, data, hidden, shape, height, timeZone, format, isWhole, syncKey, theme, isZoomable]);

  useLayoutEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);

  return { plot, bucket, width };
}

/** Moves the crosshair to a bucket, or hides it. */
export function pointAt(plot: uPlot, bucket: number | undefined): void {
  if (bucket === undefined) plot.setCursor({ left: -10, top: -10 });
  else plot.setCursor({ left: plot.valToPos(bucket, "x"), top: 0 });
}

/** The position of a bucket in its plot's element, in pixels from the left. */
export function leftOf(plot: uPlot, bucket: number): number {
  return plot.valToPos(bucket, "x") + plot.bbox.left / devicePixelRatio;
}
