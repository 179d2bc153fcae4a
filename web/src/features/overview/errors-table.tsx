import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isAbsent } from "../../charts/chart-data.ts";
import { PanelError } from "../../charts/panel-error.tsx";
import { formatCount, formatInteger, formatNumberOf, unknown } from "../../lib/format.ts";
import { formatAgo, formatExactTime, formatMinute } from "../../lib/time.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { failedTerm } from "../series/terms.ts";
import { keyOf, useCustomersOfErrors, useNewestErrors, type NewestError } from "./error-queries.ts";
import { useGroups } from "./queries.ts";
import type { Scope } from "../series/queries.ts";
import { ShareBar } from "../series/share-bar.tsx";
import { termsOfGroup, withTerms } from "../series/rows-behind.ts";
import { rowsMax, TableFrame } from "./table-frame.tsx";
import { useOpenRows } from "../series/use-open-rows.ts";

/** Columns of the linked list: the error message is next to the name. */
const errorColumns = "timestamp,status,span_name,error_message,model,customer_identifier,latency";

/** Each kind of error: its count, affected customers, first time, and newest message. */
export function ErrorsTable({ scope }: { scope: Scope }): ReactNode {
  const openRows = useOpenRows(scope.query);
  const groups = useGroups(scope, {
    groupBy: "span_name,status_code",
    sortBy: "-error_count",
    pageSize: rowsMax,
    more: [failedTerm],
  });
  const messages = useNewestErrors(scope);
  const customers = useCustomersOfErrors(scope);
  const rows = groups.data?.results ?? [];
  const { zone } = scope.window;
  const largest = Math.max(0, ...rows.map((row) => row.error_count));
  return (
    <TableFrame
      title="Errors"
      count={groups.data?.count}
      areNarrow
      columns={["Code", "Count", "Customers", "Since", "Last"]}
      isLoading={groups.data === undefined && groups.error === null}
      emptyText="Nothing failed in this window"
      more={
        <Link to="/logs" search={{ ...openRows.search([failedTerm]), cols: errorColumns }}>
          All failed
        </Link>
      }
      error={
        groups.error !== null && <PanelError error={groups.error} onRetry={() => void groups.refetch()} height={160} />
      }
    >
      {rows.map((row) => {
        const { span_name, status_code } = row;
        const terms = [...termsOfGroup({ span_name, status_code }), failedTerm];
        const name = isAbsent(span_name) ? "without a name" : visibleLine(String(span_name));
        const newest = messages.get(keyOf(span_name, status_code));
        return (
          <tr key={keyOf(span_name, status_code)} className="h-row">
            <td className="relative max-w-0 pr-2 pl-3">
              <ShareBar share={largest === 0 ? 0 : row.error_count / largest} className="bg-error-soft" />
              <Link
                to="/logs"
                search={{ ...openRows.search(terms), cols: errorColumns }}
                className="relative flex gap-1.5 hover:text-accent"
                title={newest === undefined ? name : titleOf(name, newest)}
              >
                <NameAndMessage name={name} newest={newest} />
              </Link>
            </td>
            <td className="figures px-2 text-right text-muted">{isAbsent(status_code) ? "—" : String(status_code)}</td>
            <td className="figures px-2 text-right whitespace-nowrap" title={formatInteger(row.error_count)}>
              <Link to="/logs" search={{ ...openRows.search(terms), cols: errorColumns }} className="hover:text-accent">
                {formatCount(row.error_count)}
              </Link>
            </td>
            <td className="figures px-2 text-right whitespace-nowrap">
              <CustomersCount
                count={customers.get(keyOf(span_name, status_code))}
                query={withTerms(scope.query, terms)}
              />
            </td>
            <td
              className="px-2 text-right text-xs whitespace-nowrap text-muted tabular-nums"
              title={`First in this window ${formatExactTime(row.first_timestamp, zone)}`}
            >
              {formatMinute(row.first_timestamp, zone, Date.now())}
            </td>
            <td
              className="py-0 pr-3 pl-2 text-right text-xs whitespace-nowrap text-muted"
              title={`Last ${formatExactTime(row.last_timestamp, zone)}`}
            >
              {formatAgo(row.last_timestamp)}
            </td>
          </tr>
        );
      })}
    </TableFrame>
  );
}

function titleOf(name: string, { message, others }: NewestError): string {
  if (others === 0) return `${name}: ${message}`;
  return `${name}\nNewest message: ${message}\n${formatNumberOf(others, "other message")} among the newest 100 failures`;
}

function NameAndMessage({ name, newest }: { name: string; newest: NewestError | undefined }): ReactNode {
  return (
    <>
      <span className="min-w-0 truncate">
        {name}
        {newest !== undefined && <span className="text-muted"> · {newest.message}</span>}
      </span>
      {newest !== undefined && newest.others > 0 && (
        <span className="figures shrink-0 text-muted">+{formatInteger(newest.others)}</span>
      )}
    </>
  );
}

/** The number of customers affected by an error, with a link to them. */
function CustomersCount({ count, query }: { count: number | undefined; query: string | undefined }): ReactNode {
  if (count === undefined) return <span className="font-sans text-faint">{unknown}</span>;
  if (count === 0) return <span className="text-faint">0</span>;
  return (
    <Link
      to="/"
      search={(search) => ({ ...search, q: query, chart: "errors" as const, by: "customer" })}
      title={`${formatInteger(count)} affected customers`}
      className="hover:text-accent"
    >
      {formatCount(count)}
    </Link>
  );
}
