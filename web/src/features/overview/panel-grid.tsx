import type { ReactNode } from "react";
import { ChartPanel } from "./chart-panel.tsx";
import { panels, type PanelId } from "./panels.ts";
import { useAllSeries, useModelCallSeries, useSummaryBefore } from "./queries.ts";
import { type Scope } from "../series/queries.ts";

/** The six figures over time. */
export function PanelGrid({ scope, openPanel }: { scope: Scope; openPanel: PanelId | undefined }): ReactNode {
  const all = useAllSeries(scope);
  const modelCalls = useModelCallSeries(scope);
  const before = useSummaryBefore(scope, false);
  const modelCallsBefore = useSummaryBefore(scope, true);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {panels.map((panel) => {
        const series = panel.isOfModelCalls ? modelCalls : all;
        const summary: Readonly<Record<string, unknown>> | undefined = (
          panel.isOfModelCalls ? modelCallsBefore : before
        ).data;
        const value = summary?.["number_of_requests"] === 0 ? null : summary?.[panel.total];
        return (
          <ChartPanel
            key={panel.id}
            panel={panel}
            window={scope.window}
            query={scope.query}
            timeseries={series.data}
            error={series.error}
            onRetry={() => void series.refetch()}
            before={typeof value === "number" ? value : null}
            isOpen={openPanel === panel.id}
          />
        );
      })}
    </div>
  );
}
