import { useCallback, useEffect, useRef, useState, type CSSProperties, type ReactNode } from "react";
import { zoomWindow, panWindow } from "../model/axis.ts";
import type { RowScene } from "../trace-context.ts";
import { useSize } from "../use-size.ts";
import type { Steps } from "../use-steps.ts";
import type { Tree } from "../use-tree.ts";
import { pressInTree } from "../use-trace-keys.ts";
import type { Zoom } from "../use-zoom.ts";
import { Divider } from "./divider.tsx";
import { MapAboveBars } from "./map-above-bars.tsx";
import { TimeAxis, TimeLines } from "./time-axis.tsx";
import { TreeRows } from "./tree-rows.tsx";

type TraceTableProps = {
  scene: RowScene;
  tree: Tree;
  steps: Steps;
  zoom: Zoom;
  matches: ReadonlySet<number> | undefined;
};

/** Beside an open span, names get more space than bars. */
const firstSplit = { alone: 0.44, besideSpan: 0.68 };
/** What a name, a cost and a duration need, unless the bars would get less than this share. */
const roomPx = 340;
const leastBars = 0.44;
/** As in trace.css: below, the tree takes the whole width. */
const stackedPx = 560;

/** The tree and the waterfall share one scroller, with one row per span. */
export function TraceTable({ scene, tree, steps, zoom, matches }: TraceTableProps): ReactNode {
  const tableRef = useRef<HTMLDivElement>(null);
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null);
  const { width } = useSize(tableRef);
  const [chosen, setChosen] = useState<number>();
  const isBeside = steps.open !== -1;
  const share = isBeside ? firstSplit.besideSpan : firstSplit.alone;
  const first = Math.max(width * share, Math.min(roomPx, width * (1 - leastBars)));
  const split = Math.min(Math.max(chosen ?? first, 220), Math.max(220, width - 160));
  const treeWidth = width <= stackedPx ? width : split;
  useWheelZoom(scroller, split, scene, zoom);
  useEffect(() => scroller?.focus({ preventScroll: true }), [scroller]);
  const latest = useRef({ steps, tree });
  useEffect(() => {
    latest.current = { steps, tree };
  });
  // Stable callbacks: unchanged rows are not rendered again.
  const pick = useCallback((index: number) => latest.current.steps.pick(index), []);
  const fold = useCallback((index: number, isFolded: boolean) => latest.current.tree.setFolded(index, isFolded), []);
  const row = steps.cursor === -1 ? -1 : (tree.rows.rowOf[steps.cursor] ?? -1);
  return (
    <div
      ref={tableRef}
      className="relative flex min-h-0 min-w-0 flex-1 flex-col bg-panel"
      style={{ "--split": `${split}px` } as CSSProperties}
    >
      <MapAboveBars model={scene.model} zoom={zoom} width={width} scroller={scroller} />
      <div
        className="trace-table relative min-h-0 flex-1"
        data-tree={treeWidth < (isBeside ? 440 : 300) ? "tight" : treeWidth < 400 ? "narrow" : "wide"}
      >
        <div
          ref={setScroller}
          role="treegrid"
          aria-label="Spans of the trace"
          aria-rowcount={tree.rows.spans.length + 1}
          aria-activedescendant={row === -1 ? undefined : `trace-row-${row}`}
          tabIndex={0}
          onKeyDown={(event) => event.target === event.currentTarget && pressInTree(event, steps)}
          className="absolute inset-0 overflow-y-auto overscroll-contain outline-none [scrollbar-gutter:stable]"
        >
          <div
            role="row"
            aria-rowindex={1}
            className="trace-grid sticky top-0 z-10 h-row border-b border-line bg-panel text-xs text-muted"
          >
            <div role="columnheader" className="flex items-center gap-1.5 pr-2 pl-2">
              <span className="flex-1">Span</span>
              <span className="trace-cost w-[68px] text-right">Cost</span>
              <span className="w-[76px] text-right">Duration</span>
            </div>
            <TimeAxis window={zoom.window} />
          </div>
          <TimeLines window={zoom.window} />
          {scroller !== null && (
            <TreeRows
              scene={scene}
              tree={tree}
              scroller={scroller}
              open={steps.open}
              cursor={steps.cursor}
              matches={matches}
              onPick={pick}
              onFold={fold}
            />
          )}
        </div>
        <Divider
          className="trace-split"
          label="Width of the tree"
          value={Math.round(split)}
          min={220}
          max={Math.max(220, Math.round(width) - 160)}
          onChange={setChosen}
        />
      </div>
    </div>
  );
}

/** Ctrl or ⌘ and the wheel over the bars zooms around the pointer; a horizontal wheel pans. */
function useWheelZoom(
  element: HTMLDivElement | null,
  split: number,
  { model: { bounds } }: RowScene,
  zoom: Zoom,
): void {
  const latest = useRef({ split, bounds, zoom });
  useEffect(() => {
    latest.current = { split, bounds, zoom };
  });
  useEffect(() => {
    if (element === null) return undefined;
    // A listener that prevents scrolling has to be added by hand.
    const turn = (event: WheelEvent) => {
      const { split, bounds, zoom } = latest.current;
      const { left } = element.getBoundingClientRect();
      const share = (event.clientX - left - split) / Math.max(1, element.clientWidth - split);
      const length = zoom.window.to - zoom.window.from;
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (share < 0) return;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoom.show(zoomWindow(zoom.window, bounds, 1.0015 ** event.deltaY, zoom.window.from + share * length));
      } else if (!zoom.isWhole && Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault();
        zoom.show(panWindow(zoom.window, bounds, (sideways / Math.max(1, element.clientWidth - split)) * length));
      }
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [element]);
}
