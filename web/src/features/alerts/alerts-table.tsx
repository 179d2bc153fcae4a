import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time, Unknown } from "../../ui/value.tsx";
import { conditionOf, groupName } from "./alert-words.ts";
import { ComparedValue, SpansLink, StateMark } from "./metric-value.tsx";
import { useAlert, type Alert } from "./queries.ts";

export function AlertsTable({ alerts }: { alerts: readonly Alert[] }): ReactNode {
  return (
    <Table
      label="Alerts"
      head={
        <>
          <HeadCell>State</HeadCell>
          <HeadCell>Name</HeadCell>
          <HeadCell isNumber>Value</HeadCell>
          <HeadCell className="max-sm:hidden">Triggers when</HeadCell>
          <HeadCell className="max-sm:hidden">Group</HeadCell>
          <HeadCell className="max-sm:hidden">Last change</HeadCell>
          <HeadCell className="max-sm:hidden">Behind it</HeadCell>
        </>
      }
    >
      {alerts.map((alert) => (
        <AlertRow key={alert.id} alert={alert} />
      ))}
    </Table>
  );
}

function AlertRow({ alert }: { alert: Alert }): ReactNode {
  const { id, name, state, is_enabled: isEnabled, last_error: problem } = alert;
  return (
    <tr>
      <Cell>{isEnabled ? <StateMark state={state} /> : <Badge title="It is not evaluated.">off</Badge>}</Cell>
      <Cell className="max-w-40 min-w-32 max-sm:py-1 sm:max-w-60">
        <span className="flex items-center gap-1.5">
          <Link
            to="/alerts/$alertId"
            params={{ alertId: id }}
            className="truncate font-medium hover:text-accent"
            title={name}
          >
            {visibleLine(name)}
          </Link>
          {problem !== null && (
            <span title={problem} role="img" aria-label={problem} className="text-warn">
              <Icon name="alert" size={14} />
            </span>
          )}
        </span>
        <span className="block truncate text-xs text-muted sm:hidden">{conditionOf(alert)}</span>
      </Cell>
      <LatestCells alert={alert} />
    </tr>
  );
}

/** Figures of the first group: a triggered one, if any. The list does not contain it, the alert's own resource does. */
function LatestCells({ alert }: { alert: Alert }): ReactNode {
  const { data, error } = useAlert(alert.id);
  const condition = (
    <Cell className="text-muted max-sm:hidden" title={conditionOf(alert)}>
      {conditionOf(alert)}
    </Cell>
  );
  const first = data?.states[0];
  if (data === undefined || first === undefined) {
    const why =
      error?.message ?? (alert.evaluated_until === null ? "It was not evaluated yet." : "No group has spans.");
    const isWaiting = data === undefined && error === null;
    return (
      <>
        <Cell isNumber>{isWaiting ? <Skeleton className="h-2.5 w-12" /> : <Unknown why={why} />}</Cell>
        {condition}
        <Cell colSpan={3} className="text-faint max-sm:hidden">
          {!isWaiting && why}
        </Cell>
      </>
    );
  }
  const { ok, triggered, no_data } = alert.group_counts;
  const groups = ok + triggered + no_data;
  const changed = data.states.map(({ since }) => since).reduce((a, b) => (a > b ? a : b));
  return (
    <>
      <Cell isNumber>
        <ComparedValue alert={alert} value={first.value} before={first.previous_value} />
      </Cell>
      {condition}
      <Cell className="max-w-72 text-muted max-sm:hidden" title={groupName(first.group)}>
        {groupName(first.group) === undefined ? "all" : visibleLine(groupName(first.group) ?? "")}
        {groups > 1 && (
          <span className="text-faint" title={`${triggered} triggered, ${ok} ok, ${no_data} without data`}>
            {" "}
            {triggered > 0
              ? `(${formatInteger(triggered)} of ${formatInteger(groups)} triggered)`
              : `(none of ${formatInteger(groups)} triggered)`}
          </span>
        )}
      </Cell>
      <Cell className="text-muted max-sm:hidden">
        <Time at={changed} isAgo />
      </Cell>
      <Cell className="max-sm:hidden">
        <SpansLink url={first.spans_url} />
      </Cell>
    </>
  );
}
