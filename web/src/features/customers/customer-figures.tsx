import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { figureFormats, type FigureKind } from "../../charts/figures.ts";
import { knownCost, unknownCostText, whyUnknownCost } from "../../lib/known-cost.ts";
import type { Term } from "../../query-bar/query.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useTimeseries, type Scope } from "../series/queries.ts";
import { failedTerm } from "../series/terms.ts";
import { useOpenRows } from "../series/use-open-rows.ts";

const figures: readonly { metric: string; label: string; kind: FigureKind; terms: readonly Term[]; sort?: string }[] = [
  {
    metric: "total_cost",
    label: "Cost",
    kind: "cost",
    terms: [{ type: "has", field: "cost", negated: false }],
    sort: "-cost",
  },
  { metric: "number_of_requests", label: "Spans", kind: "count", terms: [] },
  { metric: "error_count", label: "Errors", kind: "count", terms: [failedTerm] },
  { metric: "total_tokens", label: "Tokens", kind: "count", terms: [] },
  { metric: "p95_latency", label: "Latency, p95", kind: "duration", terms: [] },
];

/** A customer's usage in the window. */
export function CustomerFigures({ scope }: { scope: Scope }): ReactNode {
  const openRows = useOpenRows(scope.query);
  const series = useTimeseries(scope, { metrics: [...figures.map(({ metric }) => metric), "unpriced_count"] });
  const totals = series.data?.series[0]?.totals;
  const unpriced = totals?.["unpriced_count"] ?? 0;
  if (series.error !== null) return <ErrorPanel error={series.error} onRetry={() => void series.refetch()} />;
  return (
    <dl className="grid grid-cols-2 divide-line rounded-md border border-line bg-panel sm:grid-cols-5 sm:divide-x">
      {figures.map(({ metric, label, kind, terms, sort }) => (
        <div key={metric} className="min-w-0 px-3 py-2">
          <dt className="text-sm text-muted">{label}</dt>
          <dd className="h-7">
            {totals === undefined ? (
              <Skeleton className="mt-1 h-5 w-20" />
            ) : (
              <Link
                to="/logs"
                search={openRows.search(terms, undefined, sort)}
                className="text-xl font-semibold tracking-tight tabular-nums hover:text-accent"
                title={figureFormats[kind].exact(valueOf(totals, metric))}
              >
                {figureFormats[kind].short(valueOf(totals, metric))}
              </Link>
            )}
          </dd>
          {metric === "total_cost" && unpriced > 0 && (
            <p className="text-xs text-warn" title={whyUnknownCost}>
              {unknownCostText(unpriced)}
            </p>
          )}
        </div>
      ))}
    </dl>
  );
}

function valueOf(totals: Readonly<Record<string, number | null>>, metric: string): number | null {
  const value = totals[metric] ?? null;
  if (metric !== "total_cost" || value === null) return value;
  return knownCost({ total_cost: value, unpriced_count: totals["unpriced_count"] ?? 0 });
}
