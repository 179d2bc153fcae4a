import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Count, Time } from "../../ui/value.tsx";
import { groupName } from "./alert-words.ts";
import { ComparedValue, MetricValue, SpansLink, StateMark } from "./metric-value.tsx";
import type { AlertDetails } from "./queries.ts";

/** Each group with its value in the last window. */
export function GroupsPanel({ alert }: { alert: AlertDetails }): ReactNode {
  const { states, metric, group_counts: counts } = alert;
  const groups = counts.ok + counts.triggered + counts.no_data;
  const isChange = alert.change_percentage !== null;
  const title = alert.group_by === null ? "State" : `Groups, ${formatInteger(groups)}`;
  return (
    <Panel title={title}>
      {states.length === 0 ? (
        <EmptyState icon="clock" title={alert.evaluated_until === null ? "Not evaluated yet" : "No group has spans"}>
          A window ends at a full minute, and is evaluated a few seconds later.
        </EmptyState>
      ) : (
        <Table
          label="Groups"
          head={
            <>
              <HeadCell>State</HeadCell>
              <HeadCell>Group</HeadCell>
              <HeadCell isNumber>Value</HeadCell>
              <HeadCell isNumber>Window before</HeadCell>
              {isChange && <HeadCell isNumber>Change</HeadCell>}
              <HeadCell isNumber>Requests</HeadCell>
              <HeadCell>Since</HeadCell>
              <HeadCell>Behind it</HeadCell>
            </>
          }
        >
          {states.map((status) => (
            <tr key={JSON.stringify(status.group)}>
              <Cell>
                <StateMark state={status.state} />
              </Cell>
              <Cell title={groupName(status.group)}>
                {groupName(status.group) === undefined ? (
                  <span className="text-faint">all spans</span>
                ) : (
                  visibleLine(groupName(status.group) ?? "")
                )}
              </Cell>
              <Cell isNumber>
                <MetricValue metric={metric} value={status.value} />
              </Cell>
              <Cell isNumber className="text-muted">
                <MetricValue metric={metric} value={status.previous_value} />
              </Cell>
              {isChange && (
                <Cell isNumber>
                  <ComparedValue alert={alert} value={status.value} before={status.previous_value} />
                </Cell>
              )}
              <Cell isNumber>
                <Count value={status.number_of_requests} />
              </Cell>
              <Cell className="text-muted">
                <Time at={status.since} />
              </Cell>
              <Cell>
                <SpansLink url={status.spans_url} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {states.length < groups && (
        <p className="border-t border-line px-3 py-1.5 text-sm text-muted">
          The first {formatInteger(states.length)} of {formatInteger(groups)}, those that are triggered first.
        </p>
      )}
    </Panel>
  );
}
