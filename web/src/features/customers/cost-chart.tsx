import { useNavigate } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import { seriesOfGroups } from "../../charts/chart-data.ts";
import { FullChart } from "../../charts/full-chart.tsx";
import { PanelError } from "../../charts/panel-error.tsx";
import { ChartSkeleton } from "../../charts/time-chart.tsx";
import { useTimeseries, type Scope } from "../series/queries.ts";
import { termsOfGroup } from "../series/rows-behind.ts";
import { useOpenRows } from "../series/use-open-rows.ts";

const height = 220;
const daysFromMs = 2 * 86_400_000;

type ChartProps = { scope: Scope; customerId: string; isTable: boolean };

/** The cost of each model; by day if the window has several days. */
export function CostChart({ scope, customerId, isTable }: ChartProps): ReactNode {
  const navigate = useNavigate();
  const openRows = useOpenRows(scope.query);
  const { start, end, timeZone } = scope.window;
  const isOfDays = Date.parse(end) - Date.parse(start) >= daysFromMs;
  const { data, error, refetch } = useTimeseries(scope, {
    metrics: ["total_cost"],
    groupBy: "model",
    more: [{ type: "has", field: "cost", negated: false }],
    interval: isOfDays ? "1d" : "auto",
  });
  const chart = useMemo(() => data && seriesOfGroups(data, "total_cost"), [data]);
  return (
    <section aria-label="Cost by model" className="rounded-md border border-line bg-panel px-3 py-2">
      <h2 className="mb-1 font-medium">{isOfDays ? "Cost per day, by model" : "Cost by model"}</h2>
      {error !== null ? (
        <PanelError error={error} onRetry={() => void refetch()} height={height + 28} />
      ) : chart === undefined ? (
        <ChartSkeleton height={height + 28} />
      ) : !chart.series.some(({ values }) => values.some((value) => (value ?? 0) > 0)) ? (
        <p className="flex items-center justify-center text-muted" style={{ height: height / 2 }}>
          {chart.series.length === 0 ? "No known cost in this window" : "No cost in this window"}
        </p>
      ) : (
        <FullChart
          data={chart}
          shape="bars"
          label="Cost by model over time"
          height={height}
          timeZone={timeZone}
          kind="cost"
          fileName={`spanway-cost-${customerId.replaceAll(/[^\w.-]+/g, "-")}-by-model`}
          isTable={isTable}
          onView={(table) =>
            void navigate({
              to: "/customers/$customerId",
              params: { customerId },
              search: { view: table ? "table" : undefined },
              replace: true,
            })
          }
          onZoom={(range) =>
            void navigate({
              to: "/customers/$customerId",
              params: { customerId },
              search: { ...(isTable && { view: "table" }), range: undefined, ...range },
            })
          }
          onOpen={(range, series) =>
            openRows.open(series?.group === undefined ? [] : termsOfGroup(series.group), range)
          }
        />
      )}
    </section>
  );
}
