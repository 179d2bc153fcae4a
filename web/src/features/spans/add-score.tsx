import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Select } from "../../ui/select.tsx";
import { ErrorLine } from "./error-line.tsx";
import { ScoreForm } from "./score-form.tsx";
import { useAddScore, useEvaluators } from "./score-queries.ts";

type AddProps = { id: string; scored: readonly string[]; onDone: () => void };

/** Adds a score of an evaluator that has not scored the span. */
export function AddScore({ id, scored, onDone }: AddProps): ReactNode {
  const evaluators = useEvaluators(true);
  const add = useAddScore(id);
  const open = (evaluators.data ?? []).filter((evaluator) => !scored.includes(evaluator.id));
  const [chosen, setChosen] = useState("");
  const evaluator = open.find((each) => each.id === chosen) ?? open[0];
  if (evaluators.isPending) return <p className="text-muted">Loading evaluators …</p>;
  if (evaluators.error !== null)
    return <ErrorLine error={evaluators.error} onRetry={() => void evaluators.refetch()} />;
  if (evaluator === undefined) {
    return (
      <p className="text-muted">
        No evaluator can score this span: each has scored it, or none exists. Create one on the Evaluation screen.
      </p>
    );
  }
  return (
    <ScoreForm
      key={evaluator.id}
      evaluator={evaluator}
      saving={add}
      onSave={(score) => add.mutate({ evaluator_id: evaluator.id, ...score }, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <Select
        aria-label="Evaluator"
        value={evaluator.id}
        options={open.map((each) => ({ value: each.id, label: visibleLine(each.name) }))}
        onValueChange={setChosen}
        className="max-w-56"
      />
    </ScoreForm>
  );
}
