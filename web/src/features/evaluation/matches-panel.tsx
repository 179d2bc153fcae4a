import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { formatInteger } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { useMatches } from "./condition-queries.ts";

type MatchesProps = {
  /** Undefined if they cannot be parsed or listed. */
  filters: Record<string, unknown> | undefined;
  /** The same filters as a query, if one can express them. */
  query: string | undefined;
  window: Window;
  /** Text about the number. */
  children?: (count: number) => ReactNode;
};

/** The number of logs in the range that match a condition, and the newest of them. */
export function MatchesPanel({ filters, query, window, children }: MatchesProps): ReactNode {
  const { data, error, refetch, isPlaceholderData } = useMatches(filters, window);
  const all = query !== undefined && (
    <Link to="/logs" search={{ q: query === "" ? undefined : query }} className="text-sm text-accent hover:underline">
      Open in Logs
    </Link>
  );
  return (
    <Panel title="Matching logs" actions={filters !== undefined && all}>
      {filters === undefined ? (
        <p className="px-3 py-2 text-muted">No preview: the logs that match cannot be listed.</p>
      ) : error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <SkeletonRows rows={3} />
      ) : (
        <div className={isPlaceholderData ? "opacity-60" : ""}>
          <p role="status" className="px-3 py-2">
            <strong className="figures">{formatInteger(data.count)}</strong>{" "}
            {data.count === 1 ? "log of this range matches" : "logs of this range match"}
            {children?.(data.count)}
          </p>
          {data.results.length > 0 && (
            <Table label="Newest matching logs" head={null}>
              {data.results.map((log) => (
                <MatchRow key={log.unique_id} log={log} />
              ))}
            </Table>
          )}
        </div>
      )}
    </Panel>
  );
}

function MatchRow({ log }: { log: Readonly<Record<string, unknown>> }): ReactNode {
  const { unique_id: id, timestamp, status, model } = log;
  const name = [log["span_name"], log["log_type"]].find((each) => typeof each === "string" && each !== "");
  return (
    <tr>
      <Cell className="whitespace-nowrap text-muted">
        <Time at={String(timestamp)} />
      </Cell>
      <Cell className="w-full">
        <Link to="/spans/$spanId" params={{ spanId: String(id) }} className="hover:text-accent hover:underline">
          {visibleLine(typeof name === "string" ? name : "span")}
        </Link>
      </Cell>
      <Cell className="text-muted max-sm:hidden">{typeof model === "string" && visibleLine(model)}</Cell>
      <Cell>{status === "failed" && <Badge tone="error">error</Badge>}</Cell>
    </tr>
  );
}
