import { memo, type MouseEvent, type ReactNode } from "react";
import type { TimeZone } from "../../lib/time.ts";
import { Cell } from "./cell.tsx";
import type { Column } from "./columns.ts";
import { gutterWidth, rowHeight } from "./table-size.ts";
import { isFailed, type LogRow } from "./row.ts";

type RowProps = {
  row: LogRow;
  index: number;
  top: number;
  columns: readonly Column[];
  lefts: readonly number[];
  widths: readonly number[];
  firstColumn: number;
  zone: TimeZone;
  isSelected: boolean;
  isCurrent: boolean;
  isOpen: boolean;
  onOpen: (id: string) => void;
  onSelect: (id: string, isRange: boolean) => void;
};

const rightAligned: ReadonlySet<string> = new Set(["cost", "tokens", "duration", "number"]);

/** Whether a column's values are figures, aligned at the right edge. */
export function isRightAligned({ kind }: Column): boolean {
  return rightAligned.has(kind);
}

export const TableRow = memo(function TableRow(props: RowProps): ReactNode {
  const { row, top, columns, lefts, widths, isSelected, isCurrent, isOpen } = props;
  const id = row.unique_id;
  const onClick = (event: MouseEvent): void => {
    if (event.shiftKey) props.onSelect(id, true);
    else if (event.metaKey || event.ctrlKey) props.onSelect(id, false);
    else props.onOpen(id);
  };
  const state = isOpen
    ? "bg-accent-soft"
    : isSelected
      ? "bg-info-soft"
      : isFailed(row)
        ? "bg-[color-mix(in_srgb,var(--error-soft)_45%,var(--panel))] hover:bg-raised"
        : "bg-panel hover:bg-raised";
  return (
    // The keyboard moves through rows by j, k and Enter, wherever the focus is.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={props.index + 2}
      aria-selected={isSelected}
      data-current={isCurrent || undefined}
      className={`absolute inset-x-0 cursor-default border-b border-line select-none outline-none data-current:after:pointer-events-none data-current:after:absolute data-current:after:inset-0 data-current:after:z-2 data-current:after:border-2 data-current:after:border-accent contain-strict ${state}`}
      style={{ height: rowHeight, transform: `translateY(${top}px)` }}
      onClick={onClick}
    >
      <div
        role="gridcell"
        className="sticky left-0 z-1 inline-flex h-full items-center justify-center bg-inherit"
        style={{ width: gutterWidth }}
      >
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label="Select this span"
          onMouseDown={(event) => event.preventDefault()}
          className="size-3.5 accent-accent"
          checked={isSelected}
          onChange={() => undefined}
          onClick={(event) => {
            event.stopPropagation();
            props.onSelect(id, event.shiftKey);
          }}
        />
      </div>
      {columns.map((column, at) => (
        <TableCell
          key={column.id}
          row={row}
          column={column}
          zone={props.zone}
          index={props.firstColumn + at}
          left={lefts[at] ?? 0}
          width={widths[at] ?? 0}
        />
      ))}
    </div>
  );
});

type CellProps = { row: LogRow; column: Column; zone: TimeZone; index: number; left: number; width: number };

/** Memoized: when columns scroll in or out, a row renders only those. */
const TableCell = memo(function TableCell({ row, column, zone, index, left, width }: CellProps): ReactNode {
  return (
    <div
      role="gridcell"
      aria-colindex={index + 2}
      className={`absolute top-0 h-full truncate px-2 leading-7 contain-strict ${isRightAligned(column) ? "text-right" : ""}`}
      style={{ left: left + gutterWidth, width }}
    >
      <Cell row={row} column={column} zone={zone} />
    </div>
  );
});
