import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { cx } from "../../ui/cx.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { changedMembers } from "./audit-changes.ts";
import { ChangesCell } from "./changes-cell.tsx";
import { Pages } from "../../ui/pages.tsx";
import { pagesOf, useAuditLog, useNames } from "./queries.ts";

/** The audit log, newest first. */
export function AuditPanel(): ReactNode {
  const [page, setPage] = useState(1);
  const log = useAuditLog(page);
  const names = useNames();
  return (
    <Panel title="Audit log">
      {log.error !== null && <ErrorPanel error={log.error} onRetry={() => void log.refetch()} />}
      {log.isPending && <SkeletonRows rows={8} />}
      {log.data !== undefined && (
        <Table
          label="Audit log"
          head={
            <>
              <HeadCell>When</HeadCell>
              <HeadCell>Who</HeadCell>
              <HeadCell>Did</HeadCell>
              <HeadCell>To</HeadCell>
              <HeadCell>Changes</HeadCell>
              <HeadCell>From</HeadCell>
            </>
          }
        >
          {log.data.results.map((entry, at, entries) => (
            <tr key={entry.id}>
              <Cell>
                <Time at={entry.created_at} />
              </Cell>
              <Cell className="max-w-48" title={entry.actor_id ?? undefined}>
                {entry.actor_name}
              </Cell>
              <Cell className="figures">{entry.action}</Cell>
              <Target id={entry.target} name={names.get(entry.target ?? "")} />
              <ChangesCell members={changedMembers(entry, entries.slice(at + 1))} />
              <Cell className="figures text-muted">{entry.ip}</Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pages page={page} pages={pagesOf(log.data?.count ?? 0)} onPage={setPage} />
    </Panel>
  );
}

/** The target of an action, by name if known. */
function Target({ id, name }: { id: string | null; name: string | undefined }): ReactNode {
  const shown = id === null ? undefined : visibleLine(id);
  return (
    <Cell className={cx("max-w-48", name === undefined && "figures text-muted")} title={shown}>
      {name ?? shown}
    </Cell>
  );
}
