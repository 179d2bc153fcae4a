import "uplot/dist/uPlot.min.css";
import { useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { bucketLabel } from "./bucket-label.ts";
import { bucketRange, type ChartData, type ChartSeries } from "./chart-data.ts";
import { ChartTooltip } from "./chart-tooltip.tsx";
import { figureFormats, type FigureKind } from "./figures.ts";
import { seriesAt, type Shape } from "./plot-data.ts";
import { leftOf, pointAt, usePlot } from "./use-plot.ts";

export type TimeRange = { from: string; to: string };

export type ChartProps = {
  data: ChartData;
  shape: Shape;
  /** The accessible description of the chart. */
  label: string;
  hidden: ReadonlySet<string>;
  height: number;
  /** An IANA name. */
  timeZone: string;
  kind: FigureKind;
  syncKey?: string | undefined;
  onZoom?: ((range: TimeRange) => void) | undefined;
  /** `series` is undefined above the bars, and if there is only one series. */
  onOpen?: ((range: TimeRange, series: ChartSeries | undefined) => void) | undefined;
};

export function ChartCanvas(props: ChartProps): ReactNode {
  const { data, shape, label, hidden, height, timeZone, kind, syncKey, onZoom, onOpen } = props;
  const { short: format, exact: formatExact } = figureFormats[kind];
  const element = useRef<HTMLDivElement>(null);
  const touched = useRef<number>(undefined);
  const [isPointed, setIsPointed] = useState(false);
  const [spoken, setSpoken] = useState("");
  const zoom = (from: number, to: number) => {
    const range = bucketRange(data, from, to);
    if (range !== undefined) onZoom?.(range);
  };
  const { plot, bucket, width } = usePlot(element, {
    data,
    shape,
    hidden,
    height,
    timeZone,
    format,
    isWhole: kind === "count",
    syncKey,
    onSelect: onZoom === undefined ? undefined : zoom,
  });
  const shown = data.series.filter(({ key }) => !hidden.has(key));

  const open = (at: number, series: ChartSeries | undefined) => {
    const range = bucketRange(data, at, at);
    if (range !== undefined) onOpen?.(range, series);
  };
  const onClick = ({ nativeEvent }: MouseEvent) => {
    const made = plot.current;
    const at = made?.cursor.idx ?? undefined;
    if (made === undefined || at === undefined || onOpen === undefined) return;
    // The first tap shows the values; the second opens the spans behind them.
    const isFirstTap = "pointerType" in nativeEvent && nativeEvent.pointerType === "touch" && touched.current !== at;
    touched.current = at;
    if (isFirstTap) return;
    open(at, seriesAt(data, { shape, hidden, bucket: at, height: made.posToVal(made.cursor.top ?? -1, "y") }));
  };
  const point = (at: number) => {
    if (plot.current === undefined) return;
    pointAt(plot.current, at);
    const values = shown.map(({ label, values }) => `${label} ${formatExact(values[at] ?? null)}`);
    setSpoken(`${bucketLabel(data.starts[at] ?? 0, data.ends[at] ?? 0, timeZone)}: ${values.join(", ")}`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = nextBucket(event.key, bucket, data.starts.length);
    if (at !== undefined) point(at);
    else if (event.key === "Enter" && bucket !== undefined) open(bucket, undefined);
    else if (event.key === "Escape" && bucket !== undefined && plot.current !== undefined)
      pointAt(plot.current, undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      role="group"
      aria-roledescription="chart"
      aria-label={`${label}. Arrow keys read its values.`}
      tabIndex={0}
      className="relative w-full outline-offset-2"
      style={{ height }}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onPointerEnter={() => setIsPointed(true)}
      onPointerLeave={() => setIsPointed(false)}
      onFocus={() => setIsPointed(true)}
      onBlur={() => setIsPointed(false)}
    >
      <div ref={element} className={onOpen === undefined ? "absolute inset-0" : "absolute inset-0 cursor-pointer"} />
      <div aria-live="polite" className="sr-only">
        {spoken}
      </div>
      {isPointed && bucket !== undefined && plot.current !== undefined && (
        <ChartTooltip
          {...{ data, shown, shape, bucket, width, timeZone, formatExact }}
          left={leftOf(plot.current, bucket)}
        />
      )}
    </div>
  );
}

/** Undefined if the key does not move the crosshair. */
function nextBucket(key: string, bucket: number | undefined, count: number): number | undefined {
  const last = count - 1;
  if (last < 0) return undefined;
  if (key === "ArrowLeft") return Math.max(0, (bucket ?? count) - 1);
  if (key === "ArrowRight") return Math.min(last, (bucket ?? -1) + 1);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}
