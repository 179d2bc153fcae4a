import { useState, type FormEvent, type ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApiQuery } from "../../api/use-api.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { readScore } from "./read-score.ts";
import type { ScoreValue } from "./use-bulk-change.ts";

type FormProps = { isBusy: boolean; onSave: (evaluatorId: string, value: ScoreValue) => void };

/** A form for a person's score: the evaluator and the value. */
export function ScoreForm({ isBusy, onSave }: FormProps): ReactNode {
  const [chosen, setChosen] = useState("");
  const [text, setText] = useState("");
  const evaluators = useApiQuery(["evaluators", "human"], (api, signal) => {
    const params = { query: { type: "human" as const, page_size: 100 } };
    return bodyOf(api.GET("/api/evaluators/", { params, signal }));
  });
  const all = evaluators.data?.results ?? [];
  const evaluator = all.find(({ id }) => id === chosen) ?? all[0];
  const value = evaluator && readScore(evaluator.score_value_type, text);
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (evaluator !== undefined && value !== undefined) onSave(evaluator.id, value);
  };
  if (evaluators.error !== null)
    return <ErrorPanel error={evaluators.error} onRetry={() => void evaluators.refetch()} />;
  if (evaluators.isPending) return <p className="p-3 text-sm text-faint">Loading…</p>;
  if (evaluator === undefined) {
    return <p className="p-3 text-sm text-muted">There is no evaluator of type human. Create one under Evaluation.</p>;
  }
  return (
    <form className="flex flex-col gap-2 p-3" onSubmit={onSubmit}>
      <Select
        aria-label="Evaluator"
        value={evaluator.id}
        options={all.map(({ id, name }) => ({ value: id, label: visibleLine(name) }))}
        onValueChange={setChosen}
      />
      <Input
        aria-label="Value"
        placeholder={evaluator.score_value_type.replace("_", " ")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" variant="primary" isBusy={isBusy} disabled={value === undefined}>
        Score
      </Button>
    </form>
  );
}
