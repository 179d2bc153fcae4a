import type { ReactNode, TdHTMLAttributes } from "react";
import { cx } from "./cx.ts";
import { Icon } from "./icon.tsx";
import { markEdges } from "./mark-edges.ts";

/** Dense rows under a sticky header, with its own horizontal scrolling. */
export function Table({ label, head, children }: { label: string; head: ReactNode; children: ReactNode }): ReactNode {
  return (
    <div ref={markEdges} className="faded-edges relative overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse">
        <thead>
          <tr className="border-b border-line">{head}</tr>
        </thead>
        <tbody className="[&>tr]:border-b [&>tr]:border-line [&>tr:hover]:bg-raised [&>tr:last-child]:border-b-0">
          {children}
        </tbody>
      </table>
    </div>
  );
}

export type SortDirection = "asc" | "desc";

/** A column header; with `onSort` a button. `sort` is its direction if the table is sorted by it. */
export function HeadCell({
  isNumber = false,
  sort,
  onSort,
  title,
  className,
  children,
}: {
  isNumber?: boolean;
  sort?: SortDirection | undefined;
  onSort?: () => void;
  title?: string;
  className?: string;
  children?: ReactNode;
}): ReactNode {
  const arrow = sort !== undefined && <Icon name={sort === "asc" ? "arrowUp" : "arrowDown"} size={11} />;
  return (
    <th
      scope="col"
      title={title}
      aria-sort={sort === undefined ? undefined : sort === "asc" ? "ascending" : "descending"}
      className={cx(
        "h-row px-2 first:pl-3 last:pr-3 text-xs font-medium whitespace-nowrap text-faint",
        isNumber ? "text-right" : "text-left",
        className,
      )}
    >
      {onSort === undefined ? (
        children
      ) : (
        <button
          type="button"
          onClick={onSort}
          className={cx(
            "inline-flex items-baseline gap-1 hover:text-text [&>svg]:translate-y-px",
            // Figures end below the end of the text.
            isNumber && "flex-row-reverse",
            sort !== undefined && "text-text",
          )}
        >
          {children}
          {arrow}
        </button>
      )}
    </th>
  );
}

/** One line of text, truncated if necessary; numbers are right-aligned. A `max-w-…` of its own replaces the width. */
export function Cell({
  isNumber = false,
  className,
  children,
  ...rest
}: TdHTMLAttributes<HTMLTableCellElement> & { isNumber?: boolean }): ReactNode {
  return (
    <td
      {...rest}
      className={cx(
        "h-row [:where(&)]:max-w-80 truncate px-2 first:pl-3 last:pr-3",
        isNumber && "figures text-right whitespace-nowrap",
        className,
      )}
    >
      {children}
    </td>
  );
}
