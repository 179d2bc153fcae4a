import { useMemo, useRef, type ReactNode } from "react";
import { lazyPart } from "../../ui/lazy-part.tsx";
import { segmentsBySpan } from "./model/critical-path.ts";
import { at } from "./model/at.ts";
import { findSpans } from "./model/search.ts";
import type { TraceModel } from "./model/trace-model.ts";
import { TraceTable } from "./parts/trace-table.tsx";
import { TraceToolbar } from "./parts/trace-toolbar.tsx";
import type { ChangeSearch, TraceSearch } from "./search.ts";
import "./trace.css";
import type { RowScene } from "./trace-context.ts";
import { useSteps } from "./use-steps.ts";
import { useTraceKeys } from "./use-trace-keys.ts";
import { useTree } from "./use-tree.ts";
import { useZoom } from "./use-zoom.ts";

const FlameTab = lazyPart(async () => (await import("./flame-tab.tsx")).FlameTab);

type TraceViewProps = {
  model: TraceModel;
  search: TraceSearch;
  change: ChangeSearch;
  /** Renders the open span. */
  renderSpan: (index: number, close: () => void) => ReactNode;
};

/** A trace as tree and waterfall, or as a flame graph, with the open span beside it. */
export function TraceView({ model, search, change, renderSpan }: TraceViewProps): ReactNode {
  const { spans } = model;
  const findRef = useRef<HTMLInputElement>(null);
  const tree = useTree(spans, search);
  const zoom = useZoom(model.bounds, search.zoom, change);
  const { find = "" } = search;
  const matches = useMemo(() => (find === "" ? undefined : findSpans(spans, find)), [spans, find]);
  const matchSet = useMemo(() => matches && new Set(matches), [matches]);
  const steps = useSteps(model, tree, search, change, matches);
  const isPathShown = search.path !== "off";
  const path = useMemo(() => (isPathShown ? segmentsBySpan(model.path) : undefined), [isPathShown, model]);
  const scene: RowScene = useMemo(() => ({ model, window: zoom.window, path }), [model, zoom.window, path]);
  useTraceKeys({
    steps,
    focusSearch: () => findRef.current?.focus(),
    togglePath: () => change({ path: isPathShown ? "off" : undefined }, { replace: true }),
    resetZoom: zoom.reset,
    zoomToSpan: () => steps.cursor !== -1 && zoom.show(aroundSpan(model, steps.cursor)),
  });
  const isFlame = search.tab === "flame";
  return (
    <div className="flex min-h-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <TraceToolbar {...{ model, search, change, steps, zoom, matches, findRef }} />
        {isFlame ? (
          <FlameTab model={model} search={search} change={change} onOpen={steps.pick} />
        ) : (
          <TraceTable scene={scene} tree={tree} steps={steps} zoom={zoom} matches={matchSet} />
        )}
      </div>
      {steps.open !== -1 && renderSpan(steps.open, steps.close)}
    </div>
  );
}

const roomShare = 0.1;

/** The time range of a span with a margin on both sides. */
function aroundSpan({ spans, bounds }: TraceModel, index: number): { from: number; to: number } {
  const [from, to] = [at(spans.starts, index) - bounds.startMs, at(spans.finishes, index) - bounds.startMs];
  const room = Math.max((to - from) * roomShare, 0.5);
  return { from: from - room, to: to + room };
}
