import { useRef, useState, type PointerEvent, type ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { formatMinute, zoneName, type TimeZone } from "../../lib/time.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { zoomTo, type Bar } from "./histogram-data.ts";
import { useHistogram } from "./queries.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";

const height = 48;

type HistogramProps = { scope: QueryScope; zone: TimeZone; onZoom: (range: { from: string; to: string }) => void };

/** Requests and errors over the window. A drag zooms in. */
export function Histogram({ scope, zone, onZoom }: HistogramProps): ReactNode {
  const histogram = useHistogram(scope, zoneName(zone));
  if (histogram.error !== null) return <ErrorPanel error={histogram.error} onRetry={() => void histogram.refetch()} />;
  const bars = histogram.data ?? [];
  return (
    <div
      className={`border-b border-line bg-panel px-3 pt-2 transition-opacity ${histogram.isPlaceholderData ? "opacity-60" : ""}`}
    >
      <Bars bars={bars} zone={zone} onZoom={onZoom} />
      <div className="flex justify-between py-0.5 text-2xs text-faint">
        <span>{bars.length === 0 ? " " : formatMinute(bars[0]?.startMs, zone)}</span>
        <span className="max-md:hidden">Drag to zoom in</span>
        <span>{bars.length === 0 ? " " : formatMinute(bars.at(-1)?.endMs, zone)}</span>
      </div>
    </div>
  );
}

function Bars({
  bars,
  zone,
  onZoom,
}: { bars: readonly Bar[]; zone: TimeZone } & Pick<HistogramProps, "onZoom">): ReactNode {
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const [hovered, setHovered] = useState<number>();
  const frame = useRef<HTMLDivElement>(null);
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const shareAt = (event: PointerEvent): number => {
    const { left, width } = frame.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const share = shareAt(event);
    setHovered(Math.min(bars.length - 1, Math.floor(share * bars.length)));
    setDrag((before) => before && { ...before, to: share });
  };
  const onPointerUp = (): void => {
    const range = drag && Math.abs(drag.to - drag.from) > 0.005 ? zoomTo(bars, drag.from, drag.to) : undefined;
    setDrag(undefined);
    if (range !== undefined) onZoom(range);
  };
  const bar = hovered === undefined ? undefined : bars[hovered];
  return (
    <div
      ref={frame}
      className="relative cursor-crosshair touch-none select-none"
      style={{ height }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const share = shareAt(event);
        setDrag({ from: share, to: share });
      }}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerLeave={() => setHovered(undefined)}
    >
      <svg
        width="100%"
        height={height}
        viewBox={`0 0 ${Math.max(1, bars.length)} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summaryOf(bars)}
      >
        {bars.map(({ startMs, requests, errors }, at) => (
          <g key={startMs} opacity={hovered === undefined || hovered === at ? 1 : 0.6}>
            <Block at={at} from={errors} to={requests} most={most} className="fill-accent/70" />
            <Block at={at} from={0} to={errors} most={most} className="fill-error" />
          </g>
        ))}
      </svg>
      <span className="absolute inset-x-0 bottom-0 border-b border-line-strong" />
      {drag !== undefined && (
        <span
          className="absolute inset-y-0 border-x border-accent bg-accent/15"
          style={{ left: `${Math.min(drag.from, drag.to) * 100}%`, width: `${Math.abs(drag.to - drag.from) * 100}%` }}
        />
      )}
      {bar !== undefined && drag === undefined && (
        <Tip bar={bar} zone={zone} share={((hovered ?? 0) + 0.5) / bars.length} />
      )}
    </div>
  );
}

function summaryOf(bars: readonly Bar[]): string {
  const requests = bars.reduce((sum, bar) => sum + bar.requests, 0);
  const errors = bars.reduce((sum, bar) => sum + bar.errors, 0);
  return `${formatInteger(requests)} requests, ${formatInteger(errors)} of them errors, over time`;
}

type BlockProps = { at: number; from: number; to: number; most: number; className: string };

function Block({ at, from, to, most, className }: BlockProps): ReactNode {
  if (to <= from) return null;
  // A bar is at least 2 px high, so that even one request is visible.
  const size = Math.max(from === 0 ? 2 : 0, ((to - from) / most) * (height - 2));
  const bottom = (from / most) * (height - 2);
  return <rect x={at + 0.1} width={0.8} y={height - bottom - size} height={size} className={className} />;
}

function Tip({ bar, zone, share }: { bar: Bar; zone: TimeZone; share: number }): ReactNode {
  const isRight = share > 0.5;
  return (
    <span
      className="pointer-events-none absolute top-0 z-10 rounded-sm border border-line-strong bg-panel px-2 py-1 text-xs whitespace-nowrap"
      style={isRight ? { right: `${(1 - share) * 100 + 1}%` } : { left: `${share * 100 + 1}%` }}
    >
      <span className="text-muted">{formatMinute(bar.startMs, zone)}</span>{" "}
      <span className="figures">{formatInteger(bar.requests)}</span> requests{" "}
      {bar.errors > 0 && <span className="text-error">{formatInteger(bar.errors)} errors</span>}
    </span>
  );
}
