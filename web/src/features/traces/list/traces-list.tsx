import { useCallback, useRef, useState, type ReactNode } from "react";
import { formatInteger, formatNumberOf } from "../../../lib/format.ts";
import { QueryBar } from "../../../query-bar/query-bar.tsx";
import { useQueryScope } from "../../../query-bar/use-query-scope.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorPanel } from "../../../ui/error-panel.tsx";
import { useKeys } from "../../../ui/keys.ts";
import { leaveControl } from "../../../ui/leave-control.ts";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { useTimeZone } from "../../../ui/value.tsx";
import { useKnownValues } from "../../logs/use-logs-screen.ts";
import type { RangeSearch } from "../../../lib/range.ts";
import { useTraces, type TracePages, type TraceRow } from "./queries.ts";
import { defaultOrder, type TracesSearch } from "./search.ts";
import { TracesTable } from "./traces-table.tsx";

type TracesListProps = {
  search: TracesSearch & RangeSearch;
  change: (change: Partial<TracesSearch>) => void;
  onOpen: (row: TraceRow) => void;
};

/** The traces of a window, filtered by a query over their spans. */
export function TracesList({ search, change, onOpen }: TracesListProps): ReactNode {
  const [reload, setReload] = useState(0);
  const [current, setCurrent] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const scope = useQueryScope(search, reload);
  const { sort = defaultOrder } = search;
  const pages = useTraces(scope, sort);
  const { known, setPlace } = useKnownValues(scope);
  const zone = useTimeZone();
  const { rows, hasNextPage, isFetchingNextPage, isError, fetchNextPage } = pages;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  const latest = useRef(rows);
  latest.current = rows;
  const open = useCallback(
    (at: number) => {
      const row = latest.current[at];
      if (row !== undefined) onOpen(row);
    },
    [onOpen],
  );
  const step = (by: number): void => {
    leaveControl();
    setCurrent((at) => Math.min(Math.max(at + by, 0), rows.length - 1));
  };
  useKeys([
    { keys: "j", label: "Next trace", run: () => step(1) },
    { keys: "k", label: "Previous trace", run: () => step(-1) },
    ...(current === -1 ? [] : [{ keys: "Enter", label: "Open the trace", run: () => open(current) }]),
    { keys: "/", label: "Type a query", run: () => input.current?.focus() },
  ]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <h1 className="sr-only">Traces</h1>
      <div className="flex items-start gap-1.5 border-b border-line bg-bg px-3 py-2">
        <QueryBar
          value={search.q ?? ""}
          input={input}
          known={known}
          onPlace={setPlace}
          onCommit={(q) => change({ q: q === "" ? undefined : q })}
        />
        <IconButton icon="refresh" label="Reload" variant="default" onClick={() => setReload((count) => count + 1)} />
      </div>
      <div className={`flex min-h-0 flex-1 flex-col ${pages.isPlaceholderData ? "opacity-60" : ""}`}>
        <TracesTable
          rows={rows}
          models={pages.models}
          zone={zone}
          order={sort}
          current={current}
          onOrder={(order) => change({ sort: order === defaultOrder ? undefined : order })}
          onOpen={open}
          onEnd={onEnd}
          footer={<Footer pages={pages} onClear={() => change({ q: undefined })} hasQuery={scope.query !== ""} />}
        />
      </div>
      <p
        role="status"
        className="flex h-6 shrink-0 items-center gap-4 border-t border-line bg-bg px-3 text-xs text-faint"
      >
        <span>{pages.count === undefined ? "Counting…" : formatNumberOf(pages.count, "trace")}</span>
        <span>{formatInteger(rows.length)} loaded</span>
      </p>
    </div>
  );
}

type FooterProps = { pages: TracePages; hasQuery: boolean; onClear: () => void };

/** The line below the last row: loading, empty or error. */
function Footer({ pages, hasQuery, onClear }: FooterProps): ReactNode {
  if (pages.error !== null) return <ErrorPanel error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.isPending && pages.fetchStatus !== "idle") return <SkeletonRows rows={20} />;
  if (pages.isFetchingNextPage) return <p className="px-4 py-2 text-faint">Loading more…</p>;
  if (pages.rows.length > 0 || pages.isFetching) return null;
  return (
    <EmptyState
      icon="trace"
      title="No trace of this range"
      action={hasQuery && <Button onClick={onClear}>Clear the query</Button>}
    >
      {hasQuery
        ? "A trace is listed if one of its spans matches. Try a longer range or another query."
        : "Spans that share a trace_unique_id are one trace. Try a longer range."}
    </EmptyState>
  );
}
