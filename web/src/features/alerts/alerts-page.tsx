import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { formatInteger } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { AlertsTable } from "./alerts-table.tsx";
import { EditAlert } from "./edit-alert.tsx";
import { useAlerts } from "./queries.ts";

export function AlertsPage(): ReactNode {
  const mayWrite = useCan("alerts:write");
  const [isCreating, setIsCreating] = useState(false);
  const { data: alerts, error, refetch } = useAlerts();
  const create = mayWrite && (
    <Button icon="plus" variant="primary" onClick={() => setIsCreating(true)}>
      New alert
    </Button>
  );
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <header className="flex min-h-7 flex-wrap items-center gap-2">
        <h1 className="sr-only">Alerts</h1>
        <span className="flex-1 text-muted tabular-nums">{alerts !== undefined && countsOf(alerts)}</span>
        {alerts?.length !== 0 && create}
      </header>
      <Panel>
        {error !== null ? (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        ) : alerts === undefined ? (
          <SkeletonRows rows={6} />
        ) : alerts.length === 0 ? (
          <EmptyState icon="bell" title="No alerts" {...(create !== false && { action: create })}>
            An alert evaluates a metric of spans every minute, and notifies its channels when it is too high, too low or
            has changed too much.
          </EmptyState>
        ) : (
          <AlertsTable alerts={alerts} />
        )}
      </Panel>
      {isCreating && <EditAlert onClose={() => setIsCreating(false)} />}
    </div>
  );
}

function countsOf(alerts: readonly { state: string; is_enabled: boolean }[]): string {
  const triggered = alerts.filter(({ state, is_enabled: isEnabled }) => isEnabled && state === "triggered").length;
  const all = `${formatInteger(alerts.length)} ${alerts.length === 1 ? "alert" : "alerts"}`;
  return triggered === 0 ? all : `${all}, ${formatInteger(triggered)} triggered`;
}
