import { memo, type MouseEvent, type ReactNode } from "react";
import type { TimeZone } from "../../lib/time.ts";
import { Cell } from "./cell.tsx";
import type { Column } from "./columns.ts";
import { gutterWidth, rowHeight } from "./table-size.ts";
import { isFailed, type LogRow } from "./row.ts";

type RowState = {
  row: LogRow;
  index: number;
  top: number;
  isSelected: boolean;
  isCurrent: boolean;
  isOpen: boolean;
  onSelect: (id: string, isRange: boolean) => void;
};

type RowProps = RowState & {
  columns: readonly Column[];
  lefts: readonly number[];
  widths: readonly number[];
  firstColumn: number;
  zone: TimeZone;
  onOpen: (id: string) => void;
};

const rightAligned: ReadonlySet<string> = new Set(["cost", "tokens", "duration", "number"]);

/** Whether a column's values are figures, aligned at the right edge. */
export function isRightAligned({ kind }: Column): boolean {
  return rightAligned.has(kind);
}

/** The colours of a row, by what it is. */
function groundOf({ row, isSelected, isOpen }: Pick<RowState, "row" | "isSelected" | "isOpen">): string {
  if (isOpen) return "bg-accent-soft";
  if (isSelected) return "bg-info-soft";
  return isFailed(row) ? "bg-[color-mix(in_srgb,var(--error-soft)_45%,var(--panel))]" : "bg-panel";
}

const markId = (index: number): string => `log-mark-${index}`;

/**
 * The box that selects a row, at the left edge wherever the row is scrolled to. It is outside of the row: the browser
 * gives each sticky element a layer, and one for each row doubles the time of a frame.
 */
export const RowMark = memo(function RowMark({ onSelect, ...props }: RowState): ReactNode {
  const { row, index, top, isSelected, isCurrent } = props;
  return (
    <div
      role="gridcell"
      id={markId(index)}
      aria-colindex={1}
      data-current={isCurrent || undefined}
      className={`absolute left-0 flex items-center justify-center border-b border-line data-current:after:pointer-events-none data-current:after:absolute data-current:after:inset-0 data-current:after:border-2 data-current:after:border-r-0 data-current:after:border-accent ${groundOf(props)}`}
      style={{ width: gutterWidth, height: rowHeight, transform: `translateY(${top + rowHeight}px)` }}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label="Select this span"
        onMouseDown={(event) => event.preventDefault()}
        className="size-3.5 accent-accent"
        checked={isSelected}
        onChange={() => undefined}
        onClick={(event) => onSelect(row.unique_id, event.shiftKey)}
      />
    </div>
  );
});

export const TableRow = memo(function TableRow(props: RowProps): ReactNode {
  const { row, top, columns, lefts, widths, isSelected, isCurrent } = props;
  const id = row.unique_id;
  const onClick = (event: MouseEvent): void => {
    if (event.shiftKey) props.onSelect(id, true);
    else if (event.metaKey || event.ctrlKey) props.onSelect(id, false);
    else props.onOpen(id);
  };
  return (
    // The keyboard moves through rows by j, k and Enter, wherever the focus is.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={props.index + 2}
      aria-owns={markId(props.index)}
      aria-selected={isSelected}
      data-current={isCurrent || undefined}
      className={`absolute inset-x-0 flex cursor-default border-b border-line select-none outline-none hover:bg-raised data-current:after:pointer-events-none data-current:after:absolute data-current:after:inset-0 data-current:after:z-2 data-current:after:border-2 data-current:after:border-accent contain-strict ${groundOf(props)}`}
      style={{ height: rowHeight, transform: `translateY(${top}px)` }}
      onClick={onClick}
    >
      {columns.map((column, at) => (
        <TableCell
          key={column.id}
          row={row}
          column={column}
          zone={props.zone}
          index={props.firstColumn + at}
          gap={at === 0 ? (lefts[0] ?? 0) + gutterWidth : 0}
          width={widths[at] ?? 0}
        />
      ))}
    </div>
  );
});

type CellProps = {
  row: LogRow;
  column: Column;
  zone: TimeZone;
  index: number;
  /** The width of the columns before it that are not drawn. */
  gap: number;
  width: number;
};

/** Memoized: when columns scroll in or out, a row renders only those. */
const TableCell = memo(function TableCell({ row, column, zone, index, gap, width }: CellProps): ReactNode {
  return (
    <div
      role="gridcell"
      aria-colindex={index + 2}
      className={`h-full shrink-0 truncate px-2 leading-7 ${isRightAligned(column) ? "text-right" : ""}`}
      style={{ marginLeft: gap, width }}
    >
      <Cell row={row} column={column} zone={zone} />
    </div>
  );
});
