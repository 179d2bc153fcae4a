import { Link } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import type { Timeseries } from "../../charts/chart-data.ts";
import { figureFormats } from "../../charts/figures.ts";
import { LineLegend } from "../../charts/line-legend.tsx";
import { ChartSkeleton, TimeChart } from "../../charts/time-chart.tsx";
import type { Window } from "../../charts/use-window.ts";
import { cx } from "../../ui/cx.ts";
import { Icon } from "../../ui/icon.tsx";
import { DetailText } from "./detail-text.tsx";
import { Headline } from "./headline.tsx";
import { panelDetail } from "./panel-details.ts";
import { PanelError } from "../../charts/panel-error.tsx";
import { failedTerm } from "../series/terms.ts";
import { panelData, type Panel, type PanelId } from "./panels.ts";
import { useOpenRows } from "../series/use-open-rows.ts";
import { useChangeSearch } from "./use-change-search.ts";

const height = 124;
const nothingHidden: ReadonlySet<string> = new Set();

type PanelProps = {
  panel: Panel;
  window: Window;
  query: string;
  timeseries: Timeseries | undefined;
  error: Error | null;
  onRetry: () => void;
  before: number | null | undefined;
  isOpen: boolean;
};

/** One figure: its headline, its change, and a small chart. */
export function ChartPanel({
  panel,
  window,
  query,
  timeseries,
  error,
  onRetry,
  before,
  isOpen,
}: PanelProps): ReactNode {
  const { id, title, hint, kind, shape } = panel;
  const change = useChangeSearch();
  const openRows = useOpenRows(query);
  const data = useMemo(() => timeseries && panelData(panel, timeseries), [panel, timeseries]);
  const format = figureFormats[kind];
  const totals = timeseries?.series[0]?.totals ?? {};
  const now = totals[panel.total];
  const detail = timeseries === undefined ? undefined : panelDetail(id, totals);
  const terms = panel.term === undefined ? [] : [panel.term];
  return (
    <section aria-label={title} className="@container min-w-0 rounded-md border border-line bg-panel px-3 pt-2 pb-1">
      <header className="flex h-6 items-center gap-2">
        <h2 className="min-w-0 truncate text-sm text-muted" title={hint}>
          {title}
        </h2>
        <span className="ml-auto">{data !== undefined && <LineLegend series={data.series} />}</span>
        <ExploreLink id={id} query={query} isOpen={isOpen} />
      </header>
      <div className="flex h-7 items-baseline gap-3">
        {timeseries === undefined ? (
          error === null && <span className="h-5 w-24 animate-pulse rounded-sm bg-raised" />
        ) : (
          <Link
            to="/logs"
            search={openRows.search(terms, undefined, panel.sort)}
            className="rounded-sm hover:text-accent"
          >
            <Headline
              value={format.short(now)}
              title={format.exact(now)}
              now={now}
              before={before}
              isBad={panel.isBad === true}
            />
          </Link>
        )}
        {detail !== undefined && <DetailText detail={detail} query={query} />}
      </div>
      {error !== null ? (
        <PanelError error={error} onRetry={onRetry} height={height} />
      ) : data === undefined ? (
        <ChartSkeleton height={height} />
      ) : (
        <TimeChart
          data={data}
          shape={shape}
          label={`${title} over time`}
          hidden={nothingHidden}
          height={height}
          timeZone={window.timeZone}
          kind={kind}
          syncKey="overview"
          onZoom={(range) => change({ range: undefined, ...range })}
          onOpen={(range, series) => {
            const isFailed = series?.key === "failed";
            openRows.open(isFailed ? [failedTerm] : terms, range, panel.sort);
          }}
        />
      )}
    </section>
  );
}

function ExploreLink({ id, query, isOpen }: { id: PanelId; query: string; isOpen: boolean }): ReactNode {
  return (
    <Link
      to="/"
      search={{ q: query === "" ? undefined : query, ...(!isOpen && { chart: id }) }}
      aria-current={isOpen}
      className={cx(
        "flex h-6 items-center gap-1 rounded-sm px-1 text-xs hover:bg-raised hover:text-text",
        isOpen ? "text-accent" : "text-faint",
      )}
      title={isOpen ? "Close the large chart" : "Large chart, by model, customer and more; table and CSV"}
    >
      <Icon name="chart" size={14} />
      <span className="@max-[280px]:sr-only">{isOpen ? "Close" : "Explore"}</span>
    </Link>
  );
}
