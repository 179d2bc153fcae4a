import type { ReactNode } from "react";
import { Field, Input, TextArea } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { FieldsProps } from "./evaluator-fields.tsx";
import { passOptions } from "./labels.ts";

/** The possible values of a score. */
export function ScoreFields({ draft, problems, onChange }: FieldsProps): ReactNode {
  if (draft.valueType === "numerical") {
    return (
      <div className="grid grid-cols-2 gap-3">
        <Field label="Smallest score" error={problems["score_config"]}>
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.min}
              onChange={({ target }) => onChange({ min: target.value })}
            />
          )}
        </Field>
        <Field label="Largest score">
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.max}
              onChange={({ target }) => onChange({ max: target.value })}
            />
          )}
        </Field>
      </div>
    );
  }
  if (draft.valueType !== "single_select" && draft.valueType !== "multi_select") return null;
  return (
    <Field label="Choices" hint="One per line." error={problems["score_config"]}>
      {(control) => (
        <TextArea {...control} value={draft.choices} onChange={({ target }) => onChange({ choices: target.value })} />
      )}
    </Field>
  );
}

const truths = [
  { value: "true", label: "true" },
  { value: "false", label: "false" },
] as const;

/** The passing condition of a score. */
export function PassingFields({ draft, problems, onChange }: FieldsProps): ReactNode {
  const isNumber = draft.valueType === "numerical" || draft.valueType === "percentage";
  const isBoolean = draft.valueType === "boolean";
  const unchanged = { value: "kept", label: "As set over the API" } as const;
  const offered = passOptions.filter(({ value }) => isNumber || value === "none" || value === "equals");
  return (
    <Field label="Passing score" error={problems["passing_conditions"]}>
      {(control) => (
        <div className="flex gap-2">
          <Select
            {...control}
            className="shrink-0"
            value={draft.passes}
            options={draft.passes === "kept" ? [unchanged, ...offered] : offered}
            onValueChange={(passes) => onChange({ passes, ...(isBoolean && { passesAt: "true" }) })}
          />
          {draft.passes === "none" || draft.passes === "kept" ? null : isBoolean ? (
            <Select
              aria-label="Value that passes"
              value={draft.passesAt === "false" ? "false" : "true"}
              options={truths}
              onValueChange={(passesAt) => onChange({ passesAt })}
            />
          ) : (
            <Input
              aria-label="Value that passes"
              value={draft.passesAt}
              onChange={({ target }) => onChange({ passesAt: target.value })}
            />
          )}
        </div>
      )}
    </Field>
  );
}
