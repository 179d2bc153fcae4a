import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatCost, formatExactCost, unknown } from "../../lib/format.ts";
import type { Term } from "../../query-bar/query.ts";
import { unpricedDetail } from "./panel-details.ts";
import { useOpenRows } from "../series/use-open-rows.ts";

type GroupCostProps = {
  row: { total_cost: number; total_tokens: number; unpriced_count: number };
  terms: readonly Term[];
  query: string;
};

/** The cost of a group, as far as it is known. */
export function GroupCost({ row, terms, query }: GroupCostProps): ReactNode {
  const openRows = useOpenRows(query);
  const unpriced = unpricedDetail(row.unpriced_count);
  // The server returns 0 if nothing has a price.
  const reason =
    row.total_cost !== 0 ? undefined : (unpriced?.text ?? (row.total_tokens === 0 ? "No call that costs" : undefined));
  return (
    <span className="inline-flex items-baseline gap-1">
      {unpriced !== undefined && (
        <Link
          to="/logs"
          search={openRows.search([...terms, ...(unpriced.terms ?? [])])}
          className="text-warn"
          title={unpriced.text}
          aria-label={unpriced.text}
        >
          +?
        </Link>
      )}
      <Link
        to="/logs"
        search={openRows.search(terms, undefined, "-cost")}
        className={reason === undefined ? "hover:text-accent" : "font-sans text-faint"}
        title={reason ?? formatExactCost(row.total_cost)}
      >
        {reason === undefined ? formatCost(row.total_cost) : unknown}
      </Link>
    </span>
  );
}
