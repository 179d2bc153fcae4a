import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Pages } from "../../ui/pages.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Cost, Time } from "../../ui/value.tsx";
import { LogsWithScore } from "./logs-with-score.tsx";
import { scoresPageSize, useAutomationScores, type Automation, type Score } from "./automation-queries.ts";
import { ScoreMark } from "./run-score.tsx";

/** The scores of the automation, newest first, each with a link to its log. */
export function AutomationScores({ automation, page }: { automation: Automation; page: number }): ReactNode {
  const navigate = useNavigate();
  const { data, error, refetch, isFetching } = useAutomationScores(automation.id, page);
  // Code and rules have no cost.
  const isPaid = data?.results.some(({ cost }) => cost !== null) === true;
  return (
    <Panel
      title="Scores of this automation"
      actions={
        <IconButton size="sm" icon="refresh" label="Reload" isBusy={isFetching} onClick={() => void refetch()} />
      }
    >
      <p className="flex flex-wrap gap-x-3 border-b border-line px-3 py-1.5 text-sm">
        {automation.evaluator_details.map(({ id, name, evaluator_slug: slug }) => (
          <LogsWithScore key={id} slug={slug}>
            Logs with a score of {visibleLine(name)}
          </LogsWithScore>
        ))}
      </p>
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <SkeletonRows rows={4} />
      ) : data.results.length === 0 ? (
        <EmptyState icon="score" title="No scores yet">
          {automation.is_enabled ? "They come with the next matching logs." : "The automation is off."}
        </EmptyState>
      ) : (
        <Table
          label="Scores of this automation"
          head={
            <>
              <HeadCell>Log</HeadCell>
              <HeadCell>Evaluator</HeadCell>
              <HeadCell>Score</HeadCell>
              {isPaid && <HeadCell isNumber>Cost</HeadCell>}
            </>
          }
        >
          {data.results.map((score) => (
            <ScoreRow key={score.id} score={score} isPaid={isPaid} />
          ))}
        </Table>
      )}
      <Pages
        page={page}
        pages={Math.ceil((data?.count ?? 0) / scoresPageSize)}
        onPage={(next) =>
          void navigate({ to: "/evaluation", search: { tab: "automations", automation: automation.id, page: next } })
        }
      />
    </Panel>
  );
}

function ScoreRow({ score, isPaid }: { score: Score; isPaid: boolean }): ReactNode {
  const { log_id: log, evaluator_name: name, explanation, error_message: problem, cost, created_at: at } = score;
  const text = problem ?? explanation ?? "";
  return (
    <tr>
      <Cell className="whitespace-nowrap">
        <Link
          to="/spans/$spanId"
          params={{ spanId: log }}
          search={{ tab: "details" }}
          className="text-accent hover:underline"
        >
          <Time at={at} isAgo />
        </Link>
      </Cell>
      <Cell className="max-w-40 text-muted" title={visibleLine(name)}>
        {visibleLine(name)}
      </Cell>
      <Cell className="max-w-0 w-full min-w-40" title={visibleLine(text.slice(0, 2000))}>
        <span className="flex min-w-0 items-center gap-2">
          <ScoreMark score={score} />
          <span className={cx("min-w-0 flex-1 basis-0 truncate", problem === null ? "text-muted" : "text-error")}>
            {visibleLine(text.slice(0, 300))}
          </span>
        </span>
      </Cell>
      {isPaid && <Cell isNumber>{cost !== null && <Cost usd={cost} />}</Cell>}
    </tr>
  );
}
