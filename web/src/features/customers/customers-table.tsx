import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { components } from "../../api/schema.gen.ts";
import { knownCost, unknownCostText } from "../../lib/known-cost.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Cost, Count, Time } from "../../ui/value.tsx";
import { failedTerm } from "../series/terms.ts";
import { useOpenRows } from "../series/use-open-rows.ts";
import { ShareBar } from "../series/share-bar.tsx";
import { BudgetCell } from "./budget-cell.tsx";
import { customerTerm } from "./customer-term.ts";
import type { CustomerSort, SortBy } from "./search.ts";

type Row = components["schemas"]["CustomerRow"];

const columns: readonly { name?: CustomerSort; label: string; isNumber?: true; className?: string }[] = [
  { name: "customer_identifier", label: "Customer" },
  { name: "total_cost", label: "Cost", isNumber: true },
  { name: "number_of_requests", label: "Spans", isNumber: true },
  { name: "error_count", label: "Errors", isNumber: true },
  { name: "total_tokens", label: "Tokens", isNumber: true },
  { label: "Budget", className: "pl-6" },
  { name: "last_active", label: "Last active", isNumber: true },
];

type TableProps = { rows: readonly Row[]; isOfAllTime: boolean; sort: SortBy; onSort: (sort: SortBy) => void };

export function CustomersTable({ rows, isOfAllTime, sort, onSort }: TableProps): ReactNode {
  const largest = Math.max(0, ...rows.map(({ total_cost }) => total_cost));
  const isDown = sort.startsWith("-");
  const head = columns.map(({ name, label, isNumber, className }) => {
    const isSorting = name !== undefined && sort.replace("-", "") === name;
    return (
      <HeadCell
        key={label}
        isNumber={isNumber === true}
        className={className ?? "first:pl-3 last:pr-3"}
        sort={isSorting ? (isDown ? "desc" : "asc") : undefined}
        {...(name !== undefined && {
          onSort: () =>
            onSort(isSorting ? (isDown ? name : `-${name}`) : name === "customer_identifier" ? name : `-${name}`),
        })}
      >
        {label}
      </HeadCell>
    );
  });
  return (
    <Table label="Customers" head={head}>
      {rows.map((row) => (
        <CustomerRow
          key={row.id}
          row={row}
          isOfAllTime={isOfAllTime}
          share={largest === 0 ? 0 : row.total_cost / largest}
        />
      ))}
    </Table>
  );
}

type RowProps = { row: Row; isOfAllTime: boolean; share: number };

function CustomerRow({ row, isOfAllTime, share }: RowProps): ReactNode {
  const { customer_identifier: id, name, email } = row;
  const openRows = useOpenRows("");
  const term = customerTerm(id);
  const range = isOfAllTime && row.last_active !== null ? { from: row.first_seen, to: row.last_active } : undefined;
  return (
    <tr>
      <Cell className="relative max-w-44 min-w-36 pl-3 sm:max-w-80">
        <ShareBar share={share} className="bg-accent-soft" />
        <Link
          to="/customers/$customerId"
          params={{ customerId: id }}
          search={{}}
          className="relative font-medium hover:text-accent"
          title={visibleLine(id)}
        >
          <bdi>{visibleLine(id)}</bdi>
        </Link>
        <span className="relative text-muted max-sm:hidden"> {visibleLine(name ?? email ?? "")}</span>
      </Cell>
      <Cell isNumber>
        <Cost usd={knownCost(row)} why={unknownCostText(row.unpriced_count)} />
      </Cell>
      <Cell isNumber>
        <Link to="/logs" search={openRows.search([term], range)} className="hover:text-accent">
          <Count value={row.number_of_requests} />
        </Link>
      </Cell>
      <Cell isNumber>
        {row.error_count === 0 ? (
          <span className="text-faint">0</span>
        ) : (
          <Link to="/logs" search={openRows.search([term, failedTerm], range)} className="text-error hover:underline">
            <Count value={row.error_count} />
          </Link>
        )}
      </Cell>
      <Cell isNumber>
        <Count value={row.total_tokens} />
      </Cell>
      <Cell className="pl-6">
        <BudgetCell customerId={id} hasBudget={row.period_budget !== null || row.total_budget !== null} />
      </Cell>
      <Cell className="pr-3 text-right text-muted">
        <Time at={row.last_active} isAgo />
      </Cell>
    </tr>
  );
}
