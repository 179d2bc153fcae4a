import { useState, type ReactNode } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import { AddScore } from "./add-score.tsx";
import { ChangeScore } from "./change-score.tsx";
import { useDeleteScore, useScoreAgain, useScores, type Score } from "./score-queries.ts";
import { scoreText } from "./score-value.ts";
import { ErrorLine } from "./error-line.tsx";

/** The scores of the span, by evaluators and people. */
export function ScoreList({ id }: { id: string }): ReactNode {
  const scores = useScores(id);
  const remove = useDeleteScore(id);
  const [isAdding, setAdding] = useState(false);
  const found = scores.data ?? [];
  return (
    <div className="flex flex-col gap-1">
      {scores.isPending && <p className="text-muted">Loading scores …</p>}
      {scores.isSuccess && found.length === 0 && <p className="text-muted">Nobody has scored the span yet.</p>}
      <ErrorLine error={scores.error} onRetry={() => void scores.refetch()} />
      {found.map((score) => (
        <ScoreItem key={score.id} id={id} score={score} onRemove={() => remove.mutate(score.id)} />
      ))}
      <ErrorLine error={remove.error} />
      {isAdding ? (
        <AddScore id={id} scored={found.map(({ evaluator_id }) => evaluator_id)} onDone={() => setAdding(false)} />
      ) : (
        <span>
          <Button onClick={() => setAdding(true)}>Add a score</Button>
        </span>
      )}
    </div>
  );
}

type ItemProps = { id: string; score: Score; onRemove: () => void };

function ScoreItem({ id, score, onRemove }: ItemProps): ReactNode {
  const [isChanging, setChanging] = useState(false);
  const again = useScoreAgain(id);
  const name = visibleLine(score.evaluator_name);
  // Devices without hover always show the buttons.
  const hidden = "opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 [@media(hover:none)]:opacity-100";
  return (
    <div className="group">
      <ScoreRow score={score}>
        <span className={`ml-auto flex shrink-0 ${again.isPending ? "" : hidden}`}>
          {score.type !== "human" && (
            <IconButton
              size="sm"
              icon="refresh"
              label={`Score again with ${name}`}
              isBusy={again.isPending}
              onClick={() => again.mutate(score)}
            />
          )}
          <IconButton
            size="sm"
            icon="edit"
            label={`Change the score of ${name}`}
            onClick={() => setChanging(!isChanging)}
          />
          <IconButton size="sm" icon="trash" label={`Delete the score of ${name}`} onClick={onRemove} />
        </span>
      </ScoreRow>
      <ErrorLine error={again.error} />
      {isChanging && <ChangeScore id={id} score={score} onDone={() => setChanging(false)} />}
    </div>
  );
}

function ScoreRow({ score, children }: { score: Score; children: ReactNode }): ReactNode {
  const { evaluator_name, is_passed, explanation, error_message, scorer } = score;
  const text = explanation ?? error_message;
  const tone = is_passed === null ? "text-text" : is_passed ? "text-ok" : "text-error";
  return (
    <div className="flex items-start gap-2 py-px text-sm">
      <span className="w-34 shrink-0 truncate text-muted" title={visibleLine(evaluator_name)}>
        {visibleLine(evaluator_name)}
      </span>
      <span
        className={`figures max-w-2/5 shrink-0 [overflow-wrap:anywhere] ${tone}`}
        title={is_passed === null ? "Neither passed nor failed" : is_passed ? "Passed" : "Not passed"}
      >
        {visibleLine(scoreText(score).slice(0, 200))}
      </span>
      {text !== null && text !== "" && (
        <span className="min-w-24 text-muted [overflow-wrap:anywhere]">{visibleLine(text.slice(0, 1000))}</span>
      )}
      {scorer !== null && scorer !== "" && (
        <span className="max-w-48 min-w-0 truncate text-faint" title={visibleLine(scorer)}>
          {visibleLine(scorer)}
        </span>
      )}
      {children}
    </div>
  );
}
