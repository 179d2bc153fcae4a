import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, type ReactNode } from "react";
import type { TimeZone } from "../../../lib/time.ts";
import { cx } from "../../../ui/cx.ts";
import { Icon } from "../../../ui/icon.tsx";
import type { TraceRow } from "./queries.ts";
import { nextOrder, type TraceOrder } from "./search.ts";
import { traceColumns, type TraceColumn } from "./trace-cells.tsx";
import { keyOfTrace, type TraceModels, type UsedModel } from "./trace-models.ts";

const rowPx = 28;
/** The next page is requested when this many rows are left. */
const nearEnd = 30;

type TracesTableProps = {
  rows: readonly TraceRow[];
  models: TraceModels;
  zone: TimeZone;
  order: TraceOrder;
  /** The row with keyboard focus, or -1. */
  current: number;
  onOrder: (order: TraceOrder) => void;
  onOpen: (row: number) => void;
  onEnd: () => void;
  footer: ReactNode;
};

/** A table of traces of any length: only visible rows are rendered. */
export function TracesTable(props: TracesTableProps): ReactNode {
  const { rows, zone, current, onOpen, onEnd } = props;
  const scrollRef = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollPaddingStart: rowPx,
    scrollMargin: rowPx,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - nearEnd) onEnd();
  }, [last, rows.length, onEnd]);
  const { scrollToIndex } = virtual;
  useEffect(() => {
    if (current >= 0) scrollToIndex(current, { align: "auto" });
  }, [current, scrollToIndex]);
  return (
    <div ref={scrollRef} className="@container min-h-0 flex-1 overflow-y-auto bg-panel">
      <div role="grid" aria-label="Traces" aria-rowcount={rows.length + 1}>
        <div role="row" aria-rowindex={1} className={cx(rowClass, "sticky top-0 z-10 bg-panel text-xs text-faint")}>
          {traceColumns.map((column) => (
            <Head key={column.title} column={column} order={props.order} onOrder={props.onOrder} />
          ))}
        </div>
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = keyOfTrace(row);
            return (
              <Row
                key={key}
                {...{ row, index, zone, onOpen }}
                models={props.models.get(key)}
                top={start - rowPx}
                isCurrent={index === current}
              />
            );
          })}
        </div>
      </div>
      {props.footer}
    </div>
  );
}

/** The widths of the visible columns, depending on the available space. */
const rowClass =
  "grid h-row items-center border-b border-line px-3 gap-x-3 " +
  "grid-cols-[108px_minmax(0,1fr)_40px_84px] @lg:grid-cols-[152px_minmax(0,1fr)_44px_84px_84px] " +
  "@3xl:grid-cols-[152px_minmax(0,1fr)_56px_48px_60px_84px_88px] " +
  "@5xl:grid-cols-[152px_minmax(0,1fr)_170px_60px_56px_64px_84px_92px] " +
  "@6xl:grid-cols-[152px_minmax(0,1fr)_170px_160px_60px_56px_64px_84px_92px]";

type RowProps = {
  row: TraceRow;
  models: readonly UsedModel[] | undefined;
  index: number;
  top: number;
  zone: TimeZone;
  isCurrent: boolean;
  onOpen: (row: number) => void;
};

const Row = memo(function Row({ row, models, index, top, zone, isCurrent, onOpen }: RowProps): ReactNode {
  const ground = isCurrent ? "bg-raised outline-1 -outline-offset-1 outline-accent/50" : "hover:bg-raised";
  return (
    // The keyboard moves through rows by j, k and Enter, wherever the focus is.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isCurrent}
      className={cx(rowClass, "absolute inset-x-0 cursor-default contain-strict", ground)}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onOpen(index)}
    >
      {traceColumns.map(({ title, isNumber, className, show }) => (
        <div
          key={title}
          role="gridcell"
          className={cx("min-w-0 truncate", isNumber === true && "figures text-right", className)}
        >
          {show(row, zone, models)}
        </div>
      ))}
    </div>
  );
});

type HeadProps = { column: TraceColumn; order: TraceOrder; onOrder: (order: TraceOrder) => void };

function Head({ column: { title, sort, isNumber, className }, order, onOrder }: HeadProps): ReactNode {
  const isSorted = sort !== undefined && (order === sort || order === `-${sort}`);
  const isUp = order === sort;
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (isUp ? "ascending" : "descending") : undefined}
      className={cx("flex min-w-0", isNumber === true && "justify-end", className)}
    >
      {sort === undefined ? (
        title
      ) : (
        <button
          type="button"
          className={cx("inline-flex items-center gap-1 hover:text-text", isSorted && "font-medium text-text")}
          onClick={() => onOrder(nextOrder(order, sort))}
        >
          {isSorted && <Icon name={isUp ? "arrowUp" : "arrowDown"} size={11} />}
          {title}
        </button>
      )}
    </div>
  );
}
