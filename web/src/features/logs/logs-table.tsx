import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useState, type ReactNode, type RefObject } from "react";
import type { TimeZone } from "../../lib/time.ts";
import { markEdges } from "../../ui/mark-edges.ts";
import { chooseWidth, columnsWithin, fittingColumns, placeColumns, type Column } from "./columns.ts";
import type { LogRow } from "./row.ts";
import type { Selection } from "./selection.ts";
import { gutterWidth, rowHeight } from "./table-size.ts";
import { TableHead, type HeadProps } from "./table-head.tsx";
import { RowMark, TableRow } from "./table-row.tsx";

export type TableProps = {
  rows: readonly LogRow[];
  columns: readonly Column[];
  /** The widths in pixels that a user has set, by column. */
  widths: Readonly<Record<string, number>>;
  onWidths: (widths: Record<string, number>) => void;
  zone: TimeZone;
  sort: string;
  selection: Selection;
  /** The row with keyboard focus. */
  current: string | undefined;
  openId: string | undefined;
  /** The rows belong to the previous query while new ones load. */
  isStale: boolean;
  scroller: RefObject<HTMLDivElement | null>;
  /** Called near the end of the loaded rows. */
  onEnd: () => void;
  onOpen: (id: string) => void;
  onSelect: (id: string, isRange: boolean) => void;
  onSelectAll: () => void;
  footer: ReactNode;
} & Pick<HeadProps, "onSort" | "onMove">;

/** More rows than are drawn at a time. */
const rowPlaces = 256;

/** A table of any size: only the visible rows and columns are rendered. */
export function LogsTable(props: TableProps): ReactNode {
  const { rows, widths, scroller, selection, current, onEnd } = props;
  const { fitting, places, first, ...shown } = useShownColumns(scroller, props.columns, widths);
  const onResize = (id: string, to?: number): void =>
    props.onWidths(chooseWidth(fitting, places.widths, widths, id, to));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    getItemKey: (index) => rows[index]?.unique_id ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 40) onEnd();
  }, [last, rows.length, onEnd]);
  useEffect(() => {
    const at = rows.findIndex(({ unique_id }) => unique_id === current);
    if (at !== -1) virtual.scrollToIndex(at, { align: "auto" });
    // Only a move of the keyboard scrolls, not rows that come in.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [current]);

  const stateOf = (row: LogRow) => ({
    row,
    isSelected: selection.ids.has(row.unique_id),
    isCurrent: current === row.unique_id,
    isOpen: props.openId === row.unique_id,
    onSelect: props.onSelect,
  });
  const isAll = rows.length > 0 && selection.ids.size >= rows.length;
  return (
    <div
      ref={scroller}
      className="faded-edges relative min-h-0 flex-1 overflow-auto bg-panel [--fade-before:0px]!"
      tabIndex={-1}
    >
      <div className="sticky left-0 z-1 size-0">
        {items.map(({ index, start }) => {
          const row = rows[index];
          return row && <RowMark key={index % rowPlaces} {...stateOf(row)} index={index} top={start} />;
        })}
      </div>
      <div
        role="grid"
        aria-label="Spans"
        aria-rowcount={rows.length + 1}
        aria-colcount={fitting.length + 1}
        aria-multiselectable
        aria-busy={props.isStale}
        className="min-w-full"
        style={{ width: places.total + gutterWidth }}
      >
        <TableHead {...props} {...shown} firstColumn={first} isAll={isAll} onResize={onResize} />
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            return (
              row !== undefined && (
                <TableRow
                  // A row that scrolls out of view is reused for one that scrolls in, so that no elements are
                  // created.
                  key={index % rowPlaces}
                  {...stateOf(row)}
                  index={index}
                  top={start}
                  {...shown}
                  firstColumn={first}
                  zone={props.zone}
                  onOpen={props.onOpen}
                />
              )
            );
          })}
        </div>
      </div>
      {/* Not a row: inside the grid it would be announced as one. */}
      {props.footer}
    </div>
  );
}

/** The columns that fit, and of these the visible ones and a few on either side so that scrolling shows no gap. */
function useShownColumns(scroller: TableProps["scroller"], columns: readonly Column[], chosen: TableProps["widths"]) {
  const { left, width } = useView(scroller);
  const available = width - gutterWidth;
  const fitting = useMemo(() => fittingColumns(columns, chosen, available), [columns, chosen, available]);
  const places = useMemo(() => placeColumns(fitting, chosen, available), [fitting, chosen, available]);
  const { first, end } = columnsWithin(places, left - 200, width + 500);
  const shown = useMemo(() => fitting.slice(first, end), [fitting, first, end]);
  const lefts = useMemo(() => places.lefts.slice(first, end), [places, first, end]);
  const widths = useMemo(() => places.widths.slice(first, end), [places, first, end]);
  return { fitting, places, first, columns: shown, lefts, widths };
}

/** What of the width is visible. */
function useView(scroller: RefObject<HTMLDivElement | null>): { left: number; width: number } {
  const [left, setLeft] = useState(0);
  const [width, setWidth] = useState(2000);
  // Handles a scroll before the rows do: reading the position after they have changed would force another layout.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const stopMarking = markEdges(element);
    const onScroll = (): void => setLeft(Math.floor(element.scrollLeft / 100) * 100);
    const resized = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 2000));
    resized.observe(element);
    setWidth(element.clientWidth);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      stopMarking?.();
      resized.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, [scroller]);
  return { left, width };
}
