import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Dot } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Cost, Count, Duration, Time } from "../../ui/value.tsx";
import { figureOptions, filtersOf, type Scope } from "../series/queries.ts";
import { useOpenRows } from "../series/use-open-rows.ts";

const fields = "timestamp,span_name,model,log_type,status,total_tokens,cost,latency";

/** The newest spans of a customer in the window. */
export function RecentLogs({ scope }: { scope: Scope }): ReactNode {
  const openRows = useOpenRows(scope.query);
  const { data, error, refetch } = useRecent(scope);
  const rows = data?.results;
  const all = (
    <Link to="/logs" search={openRows.search([])} className="text-sm text-muted hover:text-accent">
      All logs
    </Link>
  );
  const head = (
    <>
      <HeadCell className="pl-3">Time</HeadCell>
      <HeadCell>Name</HeadCell>
      <HeadCell>Model</HeadCell>
      <HeadCell isNumber>Tokens</HeadCell>
      <HeadCell isNumber>Latency</HeadCell>
      <HeadCell isNumber className="pr-3">
        Cost
      </HeadCell>
    </>
  );
  return (
    <Panel title="Recent logs" actions={all}>
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : rows === undefined ? (
        <SkeletonRows rows={10} />
      ) : rows.length === 0 ? (
        <EmptyState icon="logs" title="No logs in this window" />
      ) : (
        <Table label="Recent logs" head={head}>
          {rows.map((span) => (
            <tr key={span.unique_id}>
              <Cell className="pl-3 whitespace-nowrap text-muted">
                <Time at={span.timestamp} />
              </Cell>
              <Cell className="min-w-40">
                <Link
                  to="/spans/$spanId"
                  params={{ spanId: span.unique_id ?? "" }}
                  className="inline-flex max-w-full items-center gap-2 hover:text-accent"
                >
                  <Dot
                    tone={span.status === "failed" ? "error" : "ok"}
                    label={span.status === "failed" ? "failed" : "succeeded"}
                  />
                  <span className="truncate">{textOf(span.span_name) ?? textOf(span.log_type) ?? "span"}</span>
                </Link>
              </Cell>
              <Cell className="text-muted">{textOf(span.model)}</Cell>
              <Cell isNumber>
                <Count value={numberOf(span.total_tokens)} />
              </Cell>
              <Cell isNumber>
                <Duration seconds={numberOf(span.latency)} />
              </Cell>
              <Cell isNumber className="pr-3">
                <Cost usd={numberOf(span.cost)} why="No cost is known." />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? visibleLine(value) : undefined;

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function useRecent(scope: Scope) {
  const environment = useEnvironment();
  const { start, end } = scope.window;
  const filters = filtersOf(scope.query);
  const query = {
    start_time: start,
    end_time: end,
    environment,
    page_size: 10,
    sort_by: "-timestamp",
    include_fields: fields,
  };
  const key = ["recent logs", query, filters];
  return useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body: { filters }, signal })),
    figureOptions(environment, key, scope),
  );
}
