import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { cx } from "../../ui/cx.ts";
import { markEdges } from "../../ui/mark-edges.ts";

export const rowsMax = 8;

type FrameProps = {
  title: string;
  /** The total number, including those not shown. */
  count: number | undefined;
  columns: readonly string[];
  /** Columns are only as wide as their content, to leave room for the names. */
  areNarrow?: boolean;
  isLoading: boolean;
  emptyText: string;
  more?: ReactNode;
  /** Shown instead of the rows. */
  error: ReactNode;
  children: readonly ReactNode[];
};

/** A dense table of the overview, with the same height while it loads and when it is full. */
export function TableFrame({
  title,
  count,
  columns,
  areNarrow = false,
  isLoading,
  emptyText,
  more,
  error,
  children,
}: FrameProps): ReactNode {
  const isEmpty = !isLoading && children.length === 0;
  return (
    <section aria-label={title} className="min-w-0 rounded-md border border-line bg-panel pb-1">
      <header className="flex h-9 items-center gap-2 px-3">
        <h2 className="font-medium">{title}</h2>
        {count !== undefined && <span className="figures text-faint">{countText(count, children.length)}</span>}
        <span className="ml-auto text-xs text-muted [&>a:hover]:text-accent">{more}</span>
      </header>
      <div ref={markEdges} className="faded-edges relative overflow-x-auto">
        {error || (
          <table className="w-full min-w-[420px] border-separate border-spacing-0 text-sm" aria-busy={isLoading}>
            <thead>
              <tr className="text-xs text-faint">
                <th className="border-b border-line pb-1 pl-3 text-left font-normal">Name</th>
                {columns.map((column) => (
                  <th
                    key={column}
                    className={cx(
                      "border-b border-line px-2 pb-1 text-right font-normal last:pr-3",
                      areNarrow ? "w-px whitespace-nowrap" : "w-[72px]",
                    )}
                  >
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {isLoading && <SkeletonRows columns={columns.length + 1} />}
              {isEmpty && (
                <tr className="h-row">
                  <td colSpan={columns.length + 1} className="px-3 text-muted">
                    {emptyText}
                  </td>
                </tr>
              )}
              {children}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}

/** `8 of 9` if rows are left out. */
function countText(count: number, shown: number): string {
  return shown < count && shown > 0 ? `${formatInteger(shown)} of ${formatInteger(count)}` : formatInteger(count);
}

function SkeletonRows({ columns }: { columns: number }): ReactNode {
  return Array.from({ length: rowsMax }, (_, at) => (
    <tr key={at} className="h-row">
      <td colSpan={columns} className="px-3">
        <div className="h-3 animate-pulse rounded-sm bg-raised" style={{ width: `${92 - at * 9}%` }} />
      </td>
    </tr>
  ));
}
