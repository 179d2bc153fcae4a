import { useRef, useState, type PointerEvent, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon } from "../../ui/icon.tsx";
import { clampWidth, type Column } from "./columns.ts";
import { isRightAligned } from "./table-row.tsx";
import { gutterWidth } from "./table-size.ts";

export type HeadProps = {
  columns: readonly Column[];
  lefts: readonly number[];
  widths: readonly number[];
  firstColumn: number;
  /** A field, descending with `-`. */
  sort: string;
  isAll: boolean;
  onSort: (field: string) => void;
  /** Without a width: the usual one. */
  onResize: (id: string, width?: number) => void;
  onMove: (id: string, toId: string) => void;
  onSelectAll: () => void;
};

export function TableHead(props: HeadProps): ReactNode {
  const { columns, lefts, widths, firstColumn } = props;
  const [dragged, setDragged] = useState<string>();
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-2 h-row border-b border-line bg-raised text-xs text-muted"
    >
      <div
        role="columnheader"
        className="inline-flex h-full items-center justify-center"
        style={{ width: gutterWidth }}
      >
        <input
          type="checkbox"
          aria-label="Select all loaded spans"
          className="size-3.5 accent-accent"
          checked={props.isAll}
          onChange={props.onSelectAll}
        />
      </div>
      {columns.map((column, at) => (
        <div
          key={column.id}
          role="columnheader"
          aria-colindex={firstColumn + at + 2}
          aria-sort={sortOf(column, props.sort)}
          className={`group absolute top-0 flex h-full items-center ${dragged === column.id ? "opacity-50" : ""}`}
          style={{ left: (lefts[at] ?? 0) + gutterWidth, width: widths[at] }}
          draggable
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = "move";
            event.dataTransfer.setData("text/plain", column.id);
            setDragged(column.id);
          }}
          onDragEnd={() => setDragged(undefined)}
          onDragOver={(event) => dragged !== undefined && event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            if (dragged !== undefined && dragged !== column.id) props.onMove(dragged, column.id);
          }}
        >
          <HeadButton column={column} sort={props.sort} onSort={props.onSort} />
          <Resizer column={column} width={widths[at] ?? column.width} onResize={props.onResize} />
        </div>
      ))}
    </div>
  );
}

function sortOf({ sort: field }: Column, sort: string): "ascending" | "descending" | "none" {
  if (field === undefined) return "none";
  if (sort === field) return "ascending";
  return sort === `-${field}` ? "descending" : "none";
}

type ButtonProps = { column: Column; sort: string; onSort: (field: string) => void };

function HeadButton({ column, sort, onSort }: ButtonProps): ReactNode {
  const { sort: field, kind } = column;
  const order = sortOf(column, sort);
  const title =
    kind === "metadata" ? `metadata.${column.key}` : kind === "score" ? `score.${column.key}` : column.title;
  return (
    <button
      type="button"
      title={visibleLine(title)}
      disabled={field === undefined}
      onClick={() => field !== undefined && onSort(field)}
      className={`flex h-full min-w-0 flex-1 items-center gap-1 px-2 hover:text-text ${isRightAligned(column) ? "flex-row-reverse" : ""} ${order === "none" ? "" : "font-medium text-text"}`}
    >
      <bdi className="truncate">{visibleLine(column.title)}</bdi>
      {order !== "none" && <Icon name={order === "ascending" ? "arrowUp" : "arrowDown"} size={11} />}
    </button>
  );
}

type ResizerProps = { column: Column; width: number; onResize: HeadProps["onResize"] };

/** The right edge of a column header: dragging changes the width, a double click restores the default. */
function Resizer({ column, width, onResize }: ResizerProps): ReactNode {
  const start = useRef<{ x: number; width: number }>(undefined);
  const onPointerMove = (event: PointerEvent): void => {
    if (start.current === undefined) return;
    onResize(column.id, clampWidth(start.current.width + event.clientX - start.current.x));
  };
  return (
    <span
      aria-hidden
      draggable={false}
      className="absolute top-0 right-0 h-full w-2 cursor-col-resize border-r border-transparent group-hover:border-line-strong hover:border-accent!"
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => (start.current = undefined)}
      onDoubleClick={() => onResize(column.id)}
    />
  );
}
