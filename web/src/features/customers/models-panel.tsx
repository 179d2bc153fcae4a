import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { knownCost, unknownCostText } from "../../lib/known-cost.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Cost, Count } from "../../ui/value.tsx";
import { figureOptions, filtersOf, type Scope } from "../series/queries.ts";
import { termsOfGroup } from "../series/rows-behind.ts";
import { ShareBar } from "../series/share-bar.tsx";
import { useOpenRows } from "../series/use-open-rows.ts";

/** The models that a customer used in the window. */
export function ModelsPanel({ scope }: { scope: Scope }): ReactNode {
  const openRows = useOpenRows(scope.query);
  const { data, error, refetch } = useModels(scope);
  const rows = data?.results;
  const largest = Math.max(0, ...(rows ?? []).map(({ total_cost }) => total_cost));
  const head = (
    <>
      <HeadCell className="pl-3">Model</HeadCell>
      <HeadCell isNumber>Spans</HeadCell>
      <HeadCell isNumber>Tokens</HeadCell>
      <HeadCell isNumber className="pr-3">
        Cost
      </HeadCell>
    </>
  );
  return (
    <Panel title="Models">
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : rows === undefined ? (
        <SkeletonRows rows={5} />
      ) : rows.length === 0 ? (
        <EmptyState icon="models" title="No model calls in this window" />
      ) : (
        <Table label="Models" head={head}>
          {rows.map((row) => {
            const model = String(row["model"]);
            return (
              <tr key={model}>
                <Cell className="relative pl-3">
                  <ShareBar share={largest === 0 ? 0 : row.total_cost / largest} className="bg-accent-soft" />
                  <Link
                    to="/logs"
                    search={openRows.search(termsOfGroup({ model }))}
                    className="relative hover:text-accent"
                  >
                    {visibleLine(model)}
                  </Link>
                </Cell>
                <Cell isNumber>
                  <Count value={row.number_of_requests} />
                </Cell>
                <Cell isNumber>
                  <Count value={row.total_tokens} />
                </Cell>
                <Cell isNumber className="pr-3">
                  <Cost usd={knownCost(row)} why={unknownCostText(row.unpriced_count)} />
                </Cell>
              </tr>
            );
          })}
        </Table>
      )}
    </Panel>
  );
}

function useModels(scope: Scope) {
  const environment = useEnvironment();
  const { start, end } = scope.window;
  const filters = filtersOf(scope.query, [{ type: "has", field: "model", negated: false }]);
  const query = {
    start_time: start,
    end_time: end,
    environment,
    group_by: "model",
    sort_by: "-total_cost",
    page_size: 8,
  };
  const key = ["groups", query, filters];
  return useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/request-logs/groups/", { params: { query }, body: { filters }, signal })),
    figureOptions(environment, key, scope),
  );
}
