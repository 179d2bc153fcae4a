import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, type ReactNode } from "react";
import { at } from "../model/at.ts";
import { hasRowsBelow, rowFor, type TreeRows as Rows } from "../model/rows.ts";
import type { RowScene } from "../trace-context.ts";
import type { Tree } from "../use-tree.ts";
import { TreeRow } from "./tree-row.tsx";

const rowPx = 28;
/** More rows than are drawn at a time. */
const rowPlaces = 256;
/** Deeper levels are drawn at this indentation. */
const shownLevels = 14;

type TreeRowsProps = {
  scene: RowScene;
  tree: Tree;
  scroller: HTMLDivElement;
  /** Indexes of spans, or -1. */
  open: number;
  cursor: number;
  matches: ReadonlySet<number> | undefined;
  onPick: (index: number) => void;
  onFold: (index: number, isFolded: boolean) => void;
};

/** The visible rows. The top row keeps its position when rows are added or removed above it. */
export function TreeRows({ scene, tree, scroller, open, cursor, matches, onPick, onFold }: TreeRowsProps): ReactNode {
  const { rows, folded, hiddenKinds } = tree;
  const { spans } = scene.model;
  const virtual = useVirtualizer({
    count: rows.spans.length,
    getScrollElement: () => scroller,
    estimateSize: () => rowPx,
    overscan: 8,
    // The axis is above the rows and stays while they scroll.
    scrollMargin: rowPx,
    scrollPaddingStart: rowPx,
  });
  useAnchor(scene, rows, scroller);
  useShownCursor(virtual.scrollToIndex, rows, scene, cursor);
  const items = virtual.getVirtualItems();
  const least = items.reduce((level, { index }) => Math.min(level, rows.levels[index] ?? 0), Number.POSITIVE_INFINITY);
  const base = Math.max(0, least - 1);
  return (
    <div className="relative" style={{ height: virtual.getTotalSize() }}>
      {base > 0 && <DeepMark levels={base} />}
      {items.map(({ index: row, start }) => {
        const index = at(rows.spans, row);
        return (
          <TreeRow
            // A row that scrolls out of view is reused for one that scrolls in, so that no elements are created.
            key={row % rowPlaces}
            scene={scene}
            index={index}
            row={row}
            top={start - rowPx}
            indent={Math.min(at(rows.levels, row) - base, shownLevels)}
            level={at(rows.levels, row)}
            isFolded={hasRowsBelow(spans, hiddenKinds, index) ? folded[index] === 1 : undefined}
            isOpen={index === open}
            isCursor={index === cursor}
            isMatch={matches?.has(index)}
            onPick={onPick}
            onFold={onFold}
          />
        );
      })}
    </div>
  );
}

function DeepMark({ levels }: { levels: number }): ReactNode {
  return (
    <div className="pointer-events-none sticky top-9 z-10 h-0 pl-1">
      <span className="figures rounded-sm border border-line bg-panel px-1 text-faint">{levels} levels above</span>
    </div>
  );
}

/** Keeps the top span of the view in place when the rows change. */
function useAnchor({ model: { spans } }: RowScene, rows: Rows, scroller: HTMLDivElement): void {
  const anchor = useRef<{ rows: Rows; id: string; offset: number }>(undefined);
  useLayoutEffect(() => {
    const before = anchor.current;
    if (before !== undefined && before.rows !== rows) {
      const row = rowFor(rows, spans, spans.ids.indexOf(before.id));
      if (row >= 0) scroller.scrollTop = row * rowPx + before.offset;
    }
    const note = () => {
      const row = Math.min(Math.floor(scroller.scrollTop / rowPx), rows.spans.length - 1);
      const span = rows.spans[row];
      if (span !== undefined)
        anchor.current = { rows, id: at(spans.ids, span), offset: scroller.scrollTop - row * rowPx };
    };
    note();
    scroller.addEventListener("scroll", note, { passive: true });
    return () => scroller.removeEventListener("scroll", note);
  }, [rows, spans, scroller]);
}

/** Scrolls the cursor's row into view when the cursor moves, not when rows change. */
function useShownCursor(
  scrollTo: (row: number, options: { align: "auto" }) => void,
  rows: Rows,
  { model: { spans } }: RowScene,
  cursor: number,
): void {
  const shown = useRef<string>(undefined);
  useLayoutEffect(() => {
    const id = spans.ids[cursor];
    if (id === shown.current) return;
    shown.current = id;
    const row = cursor === -1 ? -1 : rowFor(rows, spans, cursor);
    if (row >= 0) scrollTo(row, { align: "auto" });
  }, [cursor, rows, spans, scrollTo]);
}
