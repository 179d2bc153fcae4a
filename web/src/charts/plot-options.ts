import uPlot from "uplot";
import type { ChartData, ChartSeries } from "./chart-data.ts";
import { drawnSeries, pointsToShow, type Shape } from "./plot-data.ts";
import { alignDecimals } from "./tick-labels.ts";
import { timeTicks } from "./time-ticks.ts";

export type PlotStyle = {
  width: number;
  height: number;
  shape: Shape;
  /** An IANA name. */
  timeZone: string;
  format: (value: number) => string;
  /** Whether values are whole numbers only. */
  isWhole: boolean;
  /** The value of a CSS variable. */
  color: (name: string) => string;
  /** Charts with the same key show their crosshair at the same bucket. */
  syncKey: string | undefined;
  isTouch: boolean;
};

export type PlotEvents = {
  onCursor: (bucket: number | undefined) => void;
  /** The first and the last selected bucket, both included. */
  onSelect: ((from: number, to: number) => void) | undefined;
};

const font = (color: PlotStyle["color"]) => `10.5px ${color("--font-sans") || "system-ui, sans-serif"}`;

const pixelsOfLabel = 64;

/** uPlot's options for a chart. The x value is the index of a bucket. */
export function plotOptions(data: ChartData, style: PlotStyle, events: PlotEvents): uPlot.Options {
  const buckets = data.starts.length;
  const { color, syncKey } = style;
  return {
    width: style.width,
    height: style.height,
    // Half of the last tick's label extends beyond it.
    padding: [8, 20, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [-0.5, Math.max(buckets, 1) - 0.5] },
      y: { range: (_, _min, max) => [0, ceiling(max)] },
    },
    axes: [xAxis(data, style), yAxis(style)],
    series: [{}, ...drawnSeries(data.series, style.shape).map((series) => seriesOptions(series, style))],
    cursor: {
      y: false,
      points: { show: style.shape === "lines", size: 6, width: 1.5, fill: () => color("--panel") },
      // On a touch screen a drag scrolls the page.
      drag: { x: events.onSelect !== undefined && !style.isTouch, y: false, setScale: false, dist: 4 },
      ...(syncKey !== undefined && { sync: { key: syncKey, setSeries: false } }),
    },
    hooks: {
      setCursor: [(plot) => events.onCursor(plot.cursor.idx ?? undefined)],
      setSelect: [(plot) => readSelection(plot, events)],
    },
  };
}

/** Leaves space above the highest value, and yields an axis if there is no value. */
function ceiling(max: number | null): number {
  return max === null || !Number.isFinite(max) || max <= 0 ? 1 : max * 1.06;
}

function readSelection(plot: uPlot, { onSelect }: PlotEvents): void {
  const { left, width } = plot.select;
  if (width <= 0) return;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onSelect?.(Math.round(plot.posToVal(left, "x")), Math.round(plot.posToVal(left + width, "x")));
}

function xAxis({ starts }: ChartData, { color, timeZone }: PlotStyle): uPlot.Axis {
  const ticksOf = (plot: uPlot) =>
    timeTicks(starts, timeZone, Math.max(2, Math.floor(plot.bbox.width / devicePixelRatio / pixelsOfLabel)));
  return {
    stroke: color("--faint"),
    font: font(color),
    size: 22,
    gap: 4,
    grid: { show: false },
    ticks: { stroke: color("--line"), width: 1, size: 3 },
    splits: (plot) => ticksOf(plot).map(({ at }) => at),
    values: (plot) => ticksOf(plot).map(({ label }) => label),
  };
}

const wholeSteps = Array.from({ length: 48 }, (_, at) => ([1, 2, 5][at % 3] ?? 1) * 10 ** Math.floor(at / 3));

const yGap = 6;
const leastAxisWidth = 48;
/** In the widest font that `system-ui` stands for, at the size of labels. */
const pixelsOfCharacter = 6.7;

/** Without any value there is no scale, only the line at 0. */
const knownSplits: uPlot.Axis.Filter = (plot, splits) => {
  const hasValues = plot.data.slice(1).some((row) => row.some((value) => (value ?? 0) > 0));
  return hasValues ? splits : splits.map((value) => (value === 0 ? value : null));
};

/** As wide as the longest label, which may be thousands of dollars or fractions of a cent. */
function axisWidth(labels: readonly (string | null)[]): number {
  const longest = Math.max(0, ...labels.map((label) => label?.length ?? 0));
  return Math.max(leastAxisWidth, Math.ceil(longest * pixelsOfCharacter) + yGap);
}

function yAxis({ color, format, isWhole }: PlotStyle): uPlot.Axis {
  return {
    stroke: color("--faint"),
    font: font(color),
    size: (_, values) => axisWidth(values ?? []),
    gap: yGap,
    space: 26,
    ...(isWhole && { incrs: wholeSteps }),
    filter: knownSplits,
    grid: { stroke: color("--line"), width: 1, filter: knownSplits },
    ticks: { show: false },
    values: (_, splits) => alignDecimals(splits.map((value) => (value === null ? null : format(value)))),
  };
}

function seriesOptions(series: ChartSeries, { shape, color }: PlotStyle): uPlot.Series {
  const paint = color(series.color);
  if (shape === "bars") {
    const bars = uPlot.paths.bars?.({ size: [0.78, 36], align: 0 });
    return { fill: paint, width: 0, points: { show: false }, ...(bars !== undefined && { paths: bars }) };
  }
  const shown = (plot: uPlot, at: number) => pointsToShow([...(plot.data[at] ?? [])].map((value) => value ?? null));
  return { stroke: paint, width: 1.5, points: { show: true, size: 5, fill: paint, filter: shown } };
}
