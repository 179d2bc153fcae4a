import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PanelError } from "../../charts/panel-error.tsx";
import { formatCount, formatDuration, formatInteger, formatPercent } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Unknown } from "../../ui/value.tsx";
import { GroupCost } from "./group-cost.tsx";
import { useGroups } from "./queries.ts";
import { type Scope } from "../series/queries.ts";
import { failedTerm } from "../series/terms.ts";
import { ShareBar } from "../series/share-bar.tsx";
import { termsOfGroup } from "../series/rows-behind.ts";
import { rowsMax, TableFrame } from "./table-frame.tsx";
import { useOpenRows } from "../series/use-open-rows.ts";

type GroupRow = {
  [field: string]: unknown;
  number_of_requests: number;
  total_cost: number;
  total_tokens: number;
  error_count: number;
  error_percentage: number;
  unpriced_count: number;
  p95_latency: number | null;
};

type TopTableProps = {
  scope: Scope;
  title: string;
  field: "model" | "customer_identifier" | "span_name";
  sortBy: "-total_cost" | "-number_of_requests";
};

/** The largest groups of a field. */
export function TopTable({ scope, title, field, sortBy }: TopTableProps): ReactNode {
  const groups = useGroups(scope, {
    groupBy: field,
    sortBy,
    pageSize: rowsMax,
    more: [{ type: "has", field, negated: false }],
  });
  const measure = sortBy.slice(1) as "total_cost" | "number_of_requests";
  const rows = groups.data?.results ?? [];
  const largest = Math.max(0, ...rows.map((row) => row[measure]));
  return (
    <TableFrame
      title={title}
      count={groups.data?.count}
      columns={["Spans", "Errors", "p95", "Cost"]}
      isLoading={groups.data === undefined && groups.error === null}
      emptyText={`No ${title.toLowerCase()} in this window`}
      more={field === "customer_identifier" ? <Link to="/customers">All customers</Link> : undefined}
      error={
        groups.error !== null && <PanelError error={groups.error} onRetry={() => void groups.refetch()} height={160} />
      }
    >
      {rows.map((row) => (
        <TopRow
          key={String(row[field])}
          row={row}
          field={field}
          share={largest === 0 ? 0 : row[measure] / largest}
          query={scope.query}
        />
      ))}
    </TableFrame>
  );
}

type TopRowProps = { row: GroupRow; field: TopTableProps["field"]; share: number; query: string };

function TopRow({ row, field, share, query }: TopRowProps): ReactNode {
  const openRows = useOpenRows(query);
  const name = String(row[field]);
  const shown = visibleLine(name);
  const terms = termsOfGroup({ [field]: name });
  return (
    <tr className="h-row">
      <td className="relative max-w-0 pr-2 pl-3">
        <ShareBar share={share} className="bg-accent-soft" />
        <Link
          {...(field === "customer_identifier"
            ? { to: "/customers/$customerId" as const, params: { customerId: name } }
            : { to: "/logs" as const, search: openRows.search(terms) })}
          className="relative block truncate hover:text-accent"
          title={shown}
        >
          {shown}
        </Link>
      </td>
      <td className="figures px-2 text-right whitespace-nowrap">
        <Link
          to="/logs"
          search={openRows.search(terms)}
          title={formatInteger(row.number_of_requests)}
          className="hover:text-accent"
        >
          {formatCount(row.number_of_requests)}
        </Link>
      </td>
      <td className="figures px-2 text-right whitespace-nowrap">
        {row.error_count === 0 ? (
          <span className="text-faint">0</span>
        ) : (
          <Link
            to="/logs"
            search={openRows.search([...terms, failedTerm])}
            title={`${formatPercent(row.error_percentage)} of ${formatInteger(row.number_of_requests)}`}
            className="text-error hover:underline"
          >
            {formatCount(row.error_count)}
          </Link>
        )}
      </td>
      <td className="figures px-2 text-right whitespace-nowrap">
        {row.p95_latency === null ? <Unknown why="No span has a duration" /> : formatDuration(row.p95_latency)}
      </td>
      <td className="figures py-0 pr-3 pl-2 text-right whitespace-nowrap">
        <GroupCost row={row} terms={terms} query={query} />
      </td>
    </tr>
  );
}
