import { useMemo, type ReactNode } from "react";
import { seriesOfGroups, type ChartSeries } from "../../charts/chart-data.ts";
import { FullChart } from "../../charts/full-chart.tsx";
import { PanelError } from "../../charts/panel-error.tsx";
import { ChartSkeleton } from "../../charts/time-chart.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import { findField } from "../../query-bar/fields.ts";
import type { Term } from "../../query-bar/query.ts";
import { BreakdownMenu } from "./breakdown-menu.tsx";
import { panelData, panels, type PanelId } from "./panels.ts";
import { useTimeseries, type Scope } from "../series/queries.ts";
import { termsOfGroup } from "../series/rows-behind.ts";
import { useOpenRows } from "../series/use-open-rows.ts";
import { useChangeSearch } from "./use-change-search.ts";

const height = 280;

type LargeChartProps = { scope: Scope; id: PanelId; by: string; isTable: boolean };

/** A large chart of one figure, grouped by a field. */
export function LargeChart({ scope, id, by, isTable }: LargeChartProps): ReactNode {
  const panel = panels.find((each) => each.id === id);
  const change = useChangeSearch();
  const openRows = useOpenRows(scope.query);
  const groupBy = by === "none" ? undefined : findField(by)?.name;
  const terms: readonly Term[] = panel?.term === undefined ? [] : [panel.term];
  const metrics = groupBy === undefined ? lineMetrics(id) : [panel?.groupMetric ?? "number_of_requests"];
  const series = useTimeseries(scope, {
    metrics,
    ...(groupBy !== undefined && { groupBy }),
    more: panel?.isOfModelCalls === true ? terms : [],
  });
  const { data: timeseries } = series;
  const data = useMemo(() => {
    if (timeseries === undefined || panel === undefined) return undefined;
    return groupBy === undefined ? panelData(panel, timeseries) : seriesOfGroups(timeseries, panel.groupMetric);
  }, [timeseries, panel, groupBy]);
  if (panel === undefined) return null;

  const open = (range: { from: string; to: string }, at: ChartSeries | undefined) =>
    openRows.open([...terms, ...(at?.group === undefined ? [] : termsOfGroup(at.group))], range, panel.sort);
  return (
    <section aria-label={`${panel.title}, large`} className="rounded-md border border-line bg-panel px-3 py-2">
      <header className="mb-1 flex h-7 items-center gap-2">
        <h2 className="font-medium">{panel.title}</h2>
        <BreakdownMenu scope={scope} value={by} onChange={(by) => change({ by }, { replace: true })} />
        {panel.shape === "lines" && groupBy !== undefined && (
          <span className="text-xs text-faint">95th percentile</span>
        )}
      </header>
      {series.error !== null ? (
        <PanelError error={series.error} onRetry={() => void series.refetch()} height={height + 28} />
      ) : data === undefined ? (
        <ChartSkeleton height={height + 28} />
      ) : (
        <FullChart
          data={data}
          shape={panel.shape}
          label={`${panel.title} over time${by === "none" ? "" : ` by ${visibleLine(by)}`}`}
          height={height}
          timeZone={scope.window.timeZone}
          kind={panel.kind}
          fileName={`spanway-${id}${by === "none" ? "" : `-by-${by.replaceAll(/[^\w.-]+/g, "-")}`}`}
          isTable={isTable}
          onView={(table) => change({ view: table ? "table" : undefined }, { replace: true })}
          onZoom={(range) => change({ range: undefined, ...range })}
          onOpen={open}
        />
      )}
    </section>
  );
}

const lineMetrics = (id: PanelId): string[] =>
  id === "requests"
    ? ["number_of_requests", "error_count"]
    : (panels.find((panel) => panel.id === id)?.lines.map(({ metric }) => metric) ?? []);
