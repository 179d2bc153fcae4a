import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Pages } from "../../ui/pages.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { pageSize, useEvaluatorPage } from "./queries.ts";
import { kindLabels, valueLabels } from "./labels.ts";

export function EvaluatorsPanel({ page }: { page: number }): ReactNode {
  const navigate = useNavigate();
  const evaluators = useEvaluatorPage(page);
  const canWrite = useCan("automations:write");
  const rows = evaluators.data?.results;
  const add = (
    <Button size="sm" icon="plus" onClick={() => void navigate({ to: "/evaluation", search: { evaluator: "new" } })}>
      New evaluator
    </Button>
  );
  return (
    <Panel title="Evaluators" actions={canWrite && add}>
      {evaluators.error !== null ? (
        <ErrorPanel error={evaluators.error} onRetry={() => void evaluators.refetch()} />
      ) : rows === undefined ? (
        <SkeletonRows rows={4} />
      ) : rows.length === 0 ? (
        <EmptyState icon="score" title="There is no evaluator">
          An evaluator scores logs by a rule, by your code, by a model or by people.
        </EmptyState>
      ) : (
        <Table
          label="Evaluators"
          head={
            <>
              <HeadCell>Name</HeadCell>
              <HeadCell>Slug</HeadCell>
              <HeadCell>Kind</HeadCell>
              <HeadCell>Score</HeadCell>
              <HeadCell>Changed</HeadCell>
            </>
          }
        >
          {rows.map((evaluator) => (
            <tr key={evaluator.id}>
              <Cell title={visibleLine(evaluator.name)}>
                <Link to="/evaluation" search={{ evaluator: evaluator.id }} className="font-medium hover:text-accent">
                  {visibleLine(evaluator.name)}
                </Link>
              </Cell>
              <Cell className="figures text-muted" title={evaluator.evaluator_slug}>
                {evaluator.evaluator_slug}
              </Cell>
              <Cell>
                <Badge>{kindLabels[evaluator.type]}</Badge>
              </Cell>
              <Cell className="text-muted">{valueLabels[evaluator.score_value_type]}</Cell>
              <Cell className="whitespace-nowrap text-muted">
                <Time at={evaluator.updated_at} isAgo />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pages
        page={page}
        pages={Math.ceil((evaluators.data?.count ?? 0) / pageSize)}
        onPage={(next) => void navigate({ to: "/evaluation", search: { page: next } })}
      />
    </Panel>
  );
}
