import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatCost, formatExactCost } from "../../lib/format.ts";
import { knownCost } from "../../lib/known-cost.ts";
import type { Term } from "../../query-bar/query.ts";
import { unpricedDetail } from "./panel-details.ts";
import { useOpenRows } from "../series/use-open-rows.ts";

type GroupCostProps = {
  row: { total_cost: number; unpriced_count: number };
  terms: readonly Term[];
  query: string;
};

/** The cost of a group, as far as it is known. */
export function GroupCost({ row, terms, query }: GroupCostProps): ReactNode {
  const openRows = useOpenRows(query);
  const unpriced = unpricedDetail(row.unpriced_count);
  const cost = knownCost(row);
  return (
    <span className="inline-flex items-baseline gap-1">
      {unpriced !== undefined && (
        <Link
          to="/logs"
          search={openRows.search([...terms, ...(unpriced.terms ?? [])])}
          className="text-warn"
          title={`${unpriced.text}: ${unpriced.title}`}
          aria-label={unpriced.text}
        >
          +?
        </Link>
      )}
      <Link
        to="/logs"
        search={openRows.search(terms, undefined, "-cost")}
        className={cost === null ? "font-sans text-faint" : "hover:text-accent"}
        title={cost === null ? unpriced?.text : formatExactCost(cost)}
      >
        {formatCost(cost)}
      </Link>
    </span>
  );
}
