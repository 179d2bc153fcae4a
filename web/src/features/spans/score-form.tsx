import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/input.tsx";
import { ErrorLine } from "./error-line.tsx";
import { enteredValue, formOf } from "./score-value.ts";
import type { Evaluator } from "./score-queries.ts";

type FormProps = {
  evaluator: Evaluator;
  first?: { entered: readonly string[]; explanation: string };
  saving: { isPending: boolean; error: Error | null };
  /** Called with the entered members of the score. */
  onSave: (score: Record<string, unknown>) => void;
  onCancel: () => void;
  /** Shown before the value. */
  children?: ReactNode;
};

/** Edits the value of a score and its explanation. */
export function ScoreForm({ evaluator, first, saving, onSave, onCancel, children }: FormProps): ReactNode {
  const [entered, setEntered] = useState<readonly string[]>(first?.entered ?? []);
  const [explanation, setExplanation] = useState(first?.explanation ?? "");
  const value = enteredValue(evaluator, entered);
  const hasText = explanation !== "" || first !== undefined;
  return (
    <form
      className="flex flex-col gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (value !== undefined) onSave({ ...value, ...(hasText && { explanation }) });
      }}
    >
      <div className="flex flex-wrap gap-1">
        {children}
        <ValueInput evaluator={evaluator} entered={entered} onEntered={setEntered} />
      </div>
      <Input
        aria-label="Explanation"
        placeholder="Why (optional)"
        value={explanation}
        onChange={(event) => setExplanation(event.target.value)}
      />
      <div className="flex gap-1">
        <Button type="submit" variant="primary" isBusy={saving.isPending} disabled={value === undefined}>
          Save score
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
      <ErrorLine error={saving.error} />
    </form>
  );
}

type InputProps = { evaluator: Evaluator; entered: readonly string[]; onEntered: (entered: string[]) => void };

function ValueInput({ evaluator, entered, onEntered }: InputProps): ReactNode {
  const form = formOf(evaluator);
  const [text = ""] = entered;
  if (form.kind === "number") {
    const { min, max } = form;
    const range = min === undefined && max === undefined ? "Number" : `${min ?? ""} – ${max ?? ""}`;
    return (
      <Input
        aria-label="Value"
        type="number"
        step="any"
        min={min}
        max={max}
        placeholder={range}
        value={text}
        onChange={(event) => onEntered([event.target.value])}
        className="!w-28"
      />
    );
  }
  const names = form.kind === "boolean" ? ["true", "false"] : form.kind === "choices" ? form.names : undefined;
  if (names === undefined) {
    return (
      <Input
        aria-label="Value"
        placeholder="Value"
        value={text}
        onChange={(event) => onEntered([event.target.value])}
        className="flex-1"
      />
    );
  }
  const areSeveral = form.kind === "choices" && form.areSeveral;
  return (
    <div role="group" aria-label="Value" className="flex flex-wrap gap-1">
      {names.map((name) => {
        const isOn = entered.includes(name);
        const rest = areSeveral ? entered.filter((each) => each !== name) : [];
        return (
          <button
            key={name}
            type="button"
            aria-pressed={isOn}
            onClick={() => onEntered(isOn ? rest : [...rest, name])}
            className={`h-7 rounded-md border px-2 ${isOn ? "border-accent bg-accent-soft text-accent" : "border-line text-muted hover:text-text"}`}
          >
            {visibleLine(name)}
          </button>
        );
      })}
    </div>
  );
}
