import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { Pages } from "../../ui/pages.tsx";
import { groupName, stateStyles } from "./alert-words.ts";
import { ComparedValue, SpansLink, StateMark } from "./metric-value.tsx";
import { historyPageSize, useHistory, type Alert, type HistoryEntry } from "./queries.ts";

/** Each state change and each error, newest first, with the result of each notification. */
export function HistoryPanel({ alert }: { alert: Alert }): ReactNode {
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useHistory(alert.id, page);
  const entries = data?.results;
  return (
    <Panel title="History">
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : entries === undefined ? (
        <SkeletonRows rows={4} />
      ) : entries.length === 0 ? (
        <EmptyState icon="clock" title="No state has changed yet" />
      ) : (
        <Table
          label="History"
          head={
            <>
              <HeadCell>Time</HeadCell>
              <HeadCell>Became</HeadCell>
              <HeadCell>Group</HeadCell>
              <HeadCell isNumber>Value</HeadCell>
              <HeadCell>Channels</HeadCell>
              <HeadCell>Behind it</HeadCell>
            </>
          }
        >
          {entries.map((entry) => (
            <Row key={entry.id} entry={entry} alert={alert} />
          ))}
        </Table>
      )}
      <Pages page={page} pages={Math.ceil((data?.count ?? 0) / historyPageSize)} onPage={setPage} />
    </Panel>
  );
}

function Row({ entry, alert }: { entry: HistoryEntry; alert: Alert }): ReactNode {
  const { created_at: at, state, previous_state: before, error } = entry;
  const name = groupName(entry.group);
  return (
    <tr>
      <Cell className="text-muted">
        <Time at={at} />
      </Cell>
      {state === null ? (
        <Cell colSpan={5} className="text-error" title={error ?? undefined}>
          {visibleLine(error ?? "An evaluation failed.")}
        </Cell>
      ) : (
        <>
          <Cell title={before === null ? undefined : `It was ${stateStyles[before].label}.`}>
            <StateMark state={state} />
          </Cell>
          <Cell title={name}>
            {name === undefined ? <span className="text-faint">all spans</span> : visibleLine(name)}
          </Cell>
          <Cell isNumber>
            <ComparedValue alert={alert} value={entry.value} before={entry.previous_value} />
          </Cell>
          <Cell>
            <Deliveries entry={entry} />
          </Cell>
          <Cell>
            <SpansLink url={entry.spans_url} />
          </Cell>
        </>
      )}
    </tr>
  );
}

const tones: Record<HistoryEntry["deliveries"][number]["status"], Tone> = {
  pending: "warn",
  delivered: "ok",
  failed: "error",
};

function Deliveries({ entry: { event, deliveries } }: { entry: HistoryEntry }): ReactNode {
  if (event === null) return <span className="text-faint">not sent</span>;
  if (deliveries.length === 0) return <span className="text-faint">no channel</span>;
  return (
    <span className="flex gap-1">
      {deliveries.map(({ channel, type, status, attempts, error }) => (
        <Badge
          key={channel}
          tone={tones[status]}
          title={`${status}, attempts: ${attempts}${error === null ? "" : `: ${error}`}`}
        >
          {type} {status}
        </Badge>
      ))}
    </span>
  );
}
