import { useCallback, useRef, useState, type ReactNode } from "react";
import { formatInteger, formatNumberOf } from "../../lib/format.ts";
import type { TimeZone } from "../../lib/time.ts";
import { toFilters } from "../../query-bar/to-filters.ts";
import { Kbd } from "../../ui/kbd.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { ExportProgress } from "./export-menu.tsx";
import { Histogram } from "./histogram.tsx";
import { ListFooter } from "./list-footer.tsx";
import { LiveToolbar } from "./live-toolbar.tsx";
import { LogsTable } from "./logs-table.tsx";
import { LogsToolbar } from "./logs-toolbar.tsx";
import { nextSort } from "./search.ts";
import { useColumnWidths } from "./use-column-widths.ts";
import { useExport, type ExportFormat } from "./use-export.ts";
import { useLogColumns, useLogNavigation, useLogRows, useMay } from "./use-logs-screen.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";
import { useLogsSearch } from "./use-logs-search.ts";

type ListProps = {
  scope: QueryScope;
  areFacetsShown: boolean;
  onFacets: () => void;
  onReload: () => void;
  facets: ReactNode;
};

/** The list of spans with its toolbar and panels; `facets` are shown beside the table. */
export function LogsList({ scope, areFacetsShown, onFacets, onReload, facets }: ListProps): ReactNode {
  const { search, update } = useLogsSearch();
  const zone: TimeZone = search.tz === "utc" ? "utc" : "local";
  const input = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [isPaused, setPaused] = useState(false);
  const { columns, setColumns, move } = useLogColumns();
  const { widths, choose } = useColumnWidths();
  const list = useLogRows(scope, columns, isPaused);
  const go = useLogNavigation(list.rows, () => input.current?.focus());
  const exporter = useExport();
  const mayWrite = useMay("scores:write");
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = list.pages;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  const onSort = useCallback((field: string) => update({ sort: nextSort(search.sort, field) }), [update, search.sort]);
  const exportAll = (format: ExportFormat) => void exporter.start({ ...scope, format });
  const clearQuery = search.q === undefined ? undefined : () => update({ q: undefined });
  const ids = [...go.selection.ids];
  const exportSelected = (format: ExportFormat) => {
    const term = { type: "field", field: "unique_id", operator: "is", values: ids, negated: false } as const;
    void exporter.start({ filters: toFilters([term]), window: scope.window, format });
  };
  return (
    <>
      <LogsToolbar
        scope={scope}
        columns={columns}
        onColumns={setColumns}
        count={list.pages.count}
        onExport={exportAll}
        isLive={list.isLive}
        areFacetsShown={areFacetsShown}
        onFacets={onFacets}
        onReload={onReload}
        input={input}
      />
      <ExportProgress exporter={exporter} />
      {list.isLive ? (
        <LiveToolbar live={list.live} isPaused={isPaused} onPause={setPaused} />
      ) : (
        <Histogram scope={scope} zone={zone} onZoom={(range) => update({ ...range, range: undefined })} />
      )}
      <div className="relative flex min-h-0 flex-1">
        {facets}
        <div
          className={`flex min-w-0 flex-1 flex-col transition-opacity ${list.pages.isPlaceholderData ? "opacity-60" : ""}`}
        >
          <LogsTable
            rows={list.rows}
            columns={columns}
            widths={widths}
            zone={zone}
            sort={list.sort}
            selection={go.selection}
            current={go.current}
            openId={go.openId}
            isStale={list.pages.isPlaceholderData}
            scroller={scroller}
            onEnd={onEnd}
            onOpen={go.open}
            onSelect={go.select}
            onSelectAll={go.selectAll}
            onSort={onSort}
            onWidths={choose}
            onMove={move}
            footer={<ListFooter list={list} problem={scope.problem} onClearQuery={clearQuery} />}
          />
          {ids.length > 0 && <BulkBar ids={ids} mayWrite={mayWrite} onExport={exportSelected} onClear={go.clear} />}
          {scope.problem === undefined && <StatusBar count={list.pages.count} loaded={list.rows.length} />}
        </div>
      </div>
    </>
  );
}

function StatusBar({ count, loaded }: { count: number | undefined; loaded: number }): ReactNode {
  return (
    <p
      role="status"
      className="flex h-6 shrink-0 items-center gap-4 border-t border-line bg-bg px-3 text-xs text-faint"
    >
      <span>{count === undefined ? "Counting…" : formatNumberOf(count, "span")}</span>
      <span>{formatInteger(loaded)} loaded</span>
      <span className="ml-auto max-md:hidden">
        <Kbd keys="j" /> <Kbd keys="k" /> move · <Kbd keys="Enter" /> open · <Kbd keys="x" /> select · <Kbd keys="/" />{" "}
        query
      </span>
    </p>
  );
}
