import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { EmptyWindow } from "./empty-window.tsx";
import { GettingStarted } from "./getting-started.tsx";
import { LargeChart } from "./large-chart.tsx";
import { PanelGrid } from "./panel-grid.tsx";
import { useAllSeries, useNewestSpan } from "./queries.ts";
import { type Scope } from "../series/queries.ts";
import { useFresh } from "../series/use-fresh.ts";
import type { OverviewSearch } from "./search.ts";
import { QueryLine } from "./query-line.tsx";
import { TopTables } from "./top-tables.tsx";

export function OverviewPage({ window, search }: { window: Window; search: OverviewSearch }): ReactNode {
  const { q = "", chart, by = "model", view } = search;
  const scope: Scope = useMemo(() => ({ window, query: q }), [window, q]);
  const { data: all } = useAllSeries(scope);
  const isEmpty = all?.series[0]?.totals["number_of_requests"] === 0;
  const { data: newest } = useNewestSpan(isEmpty);
  useFreshFigures(newest === null);
  useFresh(scope);
  if (isEmpty && newest === null) return <GettingStarted />;
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <h1 className="sr-only">Overview</h1>
      <QueryLine window={window} value={q} />
      {isEmpty && newest && <EmptyWindow newest={newest.timestamp ?? ""} window={window} query={q} />}
      {chart !== undefined && <LargeChart scope={scope} id={chart} by={by} isTable={view === "table"} />}
      <PanelGrid scope={scope} openPanel={chart} />
      <TopTables scope={scope} />
    </div>
  );
}

/** Once the first span exists, all figures computed before it are out of date. */
function useFreshFigures(isNone: boolean): void {
  const queries = useQueryClient();
  const wasNone = useRef(false);
  useEffect(() => {
    if (wasNone.current && !isNone) void queries.invalidateQueries();
    wasNone.current = isNone;
  }, [queries, isNone]);
}
