import type { ReactNode } from "react";
import { formatNumberOf } from "../../lib/format.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import type { LogRows } from "./use-logs-screen.ts";

/** The line below the last row: loading, empty or error. */
export function ListFooter({
  list,
  problem,
  onClearQuery,
}: {
  list: LogRows;
  /** Why the query is not sent. */
  problem: string | undefined;
  /** Undefined without a query. */
  onClearQuery: (() => void) | undefined;
}): ReactNode {
  const { pages, rows, isLive } = list;
  const wide = "sticky left-0 w-fit max-w-full";
  if (problem !== undefined) {
    return (
      <div className={`${wide} px-4 py-10`}>
        <p className="font-medium text-error">The query cannot be read.</p>
        <p className="mt-1 text-sm text-muted">No list is shown until its error is fixed.</p>
      </div>
    );
  }
  if (pages.error !== null) {
    return (
      <div className={wide}>
        <ErrorPanel
          error={pages.error}
          onRetry={() => void (rows.length > 0 ? pages.fetchNextPage() : pages.refetch())}
        />
      </div>
    );
  }
  if (pages.isPending && pages.fetchStatus !== "idle") return <Skeleton />;
  if (rows.length === 0 && !pages.isFetching) {
    return (
      <div className={`${wide} px-4 py-10 text-muted`}>
        <p className="font-medium text-text">
          {isLive
            ? "Waiting for spans…"
            : onClearQuery === undefined
              ? "No span in this range."
              : "No span of this range matches."}
        </p>
        {!isLive && (
          <p className="mt-1 text-sm">
            Try a longer range
            {onClearQuery !== undefined && (
              <>
                , or{" "}
                <button type="button" className="text-accent hover:underline" onClick={onClearQuery}>
                  clear the query
                </button>
              </>
            )}
            .
          </p>
        )}
      </div>
    );
  }
  if (pages.isFetchingNextPage) return <p className={`${wide} px-4 py-2 text-sm text-faint`}>Loading more…</p>;
  if (pages.hasNextPage) return null;
  return <p className={`${wide} px-4 py-2 text-sm text-faint`}>{formatNumberOf(rows.length, "span")} in all.</p>;
}

function Skeleton(): ReactNode {
  return (
    <div aria-label="Loading" role="status">
      {Array.from({ length: 24 }, (_, at) => (
        <div key={at} className="flex h-row items-center gap-6 border-b border-line px-10">
          <span className="h-2.5 w-20 animate-pulse rounded-sm bg-raised" />
          <span className="h-2.5 w-12 animate-pulse rounded-sm bg-raised" />
          <span className="h-2.5 animate-pulse rounded-sm bg-raised" style={{ width: 90 + ((at * 37) % 90) }} />
          <span className="h-2.5 w-24 animate-pulse rounded-sm bg-raised" />
        </div>
      ))}
    </div>
  );
}
