import { useNavigate } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import { seriesOfMetrics } from "../../charts/chart-data.ts";
import { FullChart } from "../../charts/full-chart.tsx";
import { PanelError } from "../../charts/panel-error.tsx";
import { ChartSkeleton } from "../../charts/time-chart.tsx";
import type { Window } from "../../charts/use-window.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useTimeseries } from "../series/queries.ts";
import { useOpenRows } from "../series/use-open-rows.ts";
import type { Evaluator } from "./draft.ts";
import { LogsWithScore } from "./logs-with-score.tsx";
import { useEvaluatorPage } from "./queries.ts";
import { worstScores, hasScore } from "./score-terms.ts";

const height = 160;
const evaluatorsAtOnce = 100;
const charted: ReadonlySet<string> = new Set(["numerical", "percentage", "boolean"]);

/** The scores of each evaluator over time. */
export function ScoresPanel({ window, isTable }: { window: Window; isTable: boolean }): ReactNode {
  const evaluators = useEvaluatorPage(1, evaluatorsAtOnce);
  const found = evaluators.data;
  if (found === undefined) {
    if (evaluators.error === null) return <SkeletonRows rows={6} />;
    return <ErrorPanel error={evaluators.error} onRetry={() => void evaluators.refetch()} />;
  }
  const shown = found.results.filter((evaluator) => charted.has(evaluator.score_value_type));
  const others = found.results.filter((evaluator) => !charted.has(evaluator.score_value_type));
  return (
    <div className="flex flex-col gap-3">
      {found.results.length === 0 && (
        <EmptyState icon="score" title="There is no evaluator">
          Scores come from evaluators. The tab Evaluators makes one.
        </EmptyState>
      )}
      <div className="grid gap-3 lg:grid-cols-2">
        {shown.map((evaluator) => (
          <ScoreChart key={evaluator.id} evaluator={evaluator} window={window} isTable={isTable} />
        ))}
      </div>
      {others.length > 0 && (
        <p className="text-muted">
          Scores that are no figures:{" "}
          {others.map(({ id, name, evaluator_slug: slug }) => (
            <span key={id} className="not-last:mr-2">
              <LogsWithScore slug={slug}>{visibleLine(name)}</LogsWithScore>
            </span>
          ))}
        </p>
      )}
      {found.count > evaluatorsAtOnce && (
        <p className="text-muted">
          The newest {evaluatorsAtOnce} of {found.count} evaluators.
        </p>
      )}
    </div>
  );
}

type ChartProps = { evaluator: Evaluator; window: Window; isTable: boolean };

function ScoreChart({ evaluator, window, isTable }: ChartProps): ReactNode {
  const navigate = useNavigate();
  const openRows = useOpenRows("");
  const { evaluator_slug: slug } = evaluator;
  const metric = `scores__${slug}`;
  const worst = worstScores(evaluator);
  const { data, error, refetch } = useTimeseries({ window, query: "" }, { metrics: [metric] });
  const label = evaluator.score_value_type === "boolean" ? "share that is true" : "average";
  const chart = useMemo(
    () => data && seriesOfMetrics(data, [{ metric, label, color: "--chart-1" }]),
    [data, metric, label],
  );
  const name = visibleLine(evaluator.name);
  const search = (table: boolean) => ({ tab: "scores" as const, ...(table && { view: "table" as const }) });
  return (
    <section aria-label={name} className="min-w-0 rounded-md border border-line bg-panel px-3 py-2">
      <div className="mb-1 flex flex-wrap items-baseline gap-x-3">
        <h2 className="min-w-0 flex-1 truncate font-medium">{name}</h2>
        {worst !== undefined && (
          <LogsWithScore slug={slug} terms={worst.terms}>
            {worst.name}
          </LogsWithScore>
        )}
        <LogsWithScore slug={slug}>Logs with a score</LogsWithScore>
      </div>
      {error !== null ? (
        <PanelError error={error} onRetry={() => void refetch()} height={height + 28} />
      ) : chart === undefined ? (
        <ChartSkeleton height={height + 28} />
      ) : chart.series.every(({ total }) => total === null) ? (
        <p className="flex items-center justify-center text-muted" style={{ height: height + 28 }}>
          No scores in this window
        </p>
      ) : (
        <FullChart
          data={chart}
          shape="lines"
          label={`Scores of ${name} over time`}
          height={height}
          timeZone={window.timeZone}
          kind="score"
          fileName={`spanway-scores-${slug}`}
          isTable={isTable}
          onView={(table) => void navigate({ to: "/evaluation", search: search(table), replace: true })}
          onZoom={(range) =>
            void navigate({ to: "/evaluation", search: { ...search(isTable), range: undefined, ...range } })
          }
          onOpen={(range) => openRows.open([hasScore(slug)], range)}
        />
      )}
    </section>
  );
}
