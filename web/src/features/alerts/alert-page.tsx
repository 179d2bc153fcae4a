import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { useCan } from "../../api/use-me.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useToast } from "../../ui/toast.tsx";
import { conditionOf } from "./alert-words.ts";
import { ChannelsPanel } from "./channels-panel.tsx";
import { DeleteAlert } from "./delete-alert.tsx";
import { EditAlert } from "./edit-alert.tsx";
import { GroupsPanel } from "./groups-panel.tsx";
import { HistoryPanel } from "./history-panel.tsx";
import { StateMark } from "./metric-value.tsx";
import { useAlert, useUpdateAlert, type AlertDetails } from "./queries.ts";
import { RulePanel } from "./rule-panel.tsx";

export function AlertPage({ alertId }: { alertId: string }): ReactNode {
  const { data: alert, error, refetch } = useAlert(alertId);
  if (error instanceof ApiError && error.status === 404) return <NoSuchAlert />;
  if (alert === undefined) {
    return error === null ? <SkeletonRows rows={12} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />;
  }
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <AlertHeader alert={alert} />
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {alert.last_error !== null && (
        <p role="status" className="rounded-md border border-warn/40 bg-warn-soft px-3 py-2">
          The last evaluation was put off or failed: {visibleLine(alert.last_error)}
        </p>
      )}
      <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-2">
        <RulePanel alert={alert} />
        <ChannelsPanel alert={alert} />
      </div>
      <GroupsPanel alert={alert} />
      <HistoryPanel alert={alert} />
    </div>
  );
}

function AlertHeader({ alert }: { alert: AlertDetails }): ReactNode {
  const mayWrite = useCan("alerts:write");
  const [open, setOpen] = useState<"edit" | "delete">();
  const navigate = useNavigate();
  const say = useToast();
  const update = useUpdateAlert();
  const { id, is_enabled: isEnabled } = alert;
  const toggle = () =>
    update.mutate(
      { id, body: { is_enabled: !isEnabled } },
      { onError: (error) => say.failed("The alert was not changed", error) },
    );
  return (
    <header className="flex flex-wrap items-start gap-x-3 gap-y-2">
      <div className="min-w-0 flex-1 max-sm:basis-full">
        <Link to="/alerts" className="text-sm text-muted hover:text-accent">
          Alerts
        </Link>
        <h1 className="truncate text-lg font-semibold" title={alert.name}>
          {visibleLine(alert.name)}
        </h1>
        <div className="flex min-h-5 flex-wrap items-center gap-x-3 text-muted">
          {isEnabled ? <StateMark state={alert.state} /> : <Badge title="It is not evaluated.">off</Badge>}
          <span>{conditionOf(alert)}</span>
        </div>
      </div>
      {mayWrite && (
        <div className="flex flex-wrap items-center gap-2">
          <Button icon={isEnabled ? "pause" : "play"} isBusy={update.isPending} onClick={toggle}>
            {isEnabled ? "Turn off" : "Turn on"}
          </Button>
          <Button icon="edit" onClick={() => setOpen("edit")}>
            Edit
          </Button>
          <Button variant="danger" icon="trash" onClick={() => setOpen("delete")}>
            Delete
          </Button>
        </div>
      )}
      {open === "edit" && <EditAlert alert={alert} onClose={() => setOpen(undefined)} />}
      {open === "delete" && (
        <DeleteAlert
          alert={alert}
          onClose={() => setOpen(undefined)}
          onDeleted={() => void navigate({ to: "/alerts" })}
        />
      )}
    </header>
  );
}

function NoSuchAlert(): ReactNode {
  return (
    <EmptyState
      icon="bell"
      title="There is no such alert"
      action={
        <Link to="/alerts" className="text-accent hover:underline">
          All alerts
        </Link>
      }
    />
  );
}
