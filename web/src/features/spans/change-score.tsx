import type { ReactNode } from "react";
import { ScoreForm } from "./score-form.tsx";
import { useChangeScore, useEvaluators, type Score } from "./score-queries.ts";
import { enteredOf } from "./score-value.ts";

type ChangeProps = { id: string; score: Score; onDone: () => void };

/** Changes the value of an existing score. */
export function ChangeScore({ id, score, onDone }: ChangeProps): ReactNode {
  const evaluators = useEvaluators(true);
  const change = useChangeScore(id);
  if (evaluators.isPending) return <p className="text-muted">Loading evaluators …</p>;
  const evaluator = evaluators.data?.find((each) => each.id === score.evaluator_id);
  if (evaluator === undefined) {
    return <p className="text-muted">{evaluators.error?.message ?? "Its evaluator was deleted."}</p>;
  }
  return (
    <ScoreForm
      evaluator={evaluator}
      first={{ entered: enteredOf(score), explanation: score.explanation ?? "" }}
      saving={change}
      onSave={(body) => change.mutate({ scoreId: score.id, body }, { onSuccess: onDone })}
      onCancel={onDone}
    />
  );
}
