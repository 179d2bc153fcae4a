import type { ReactNode } from "react";
import { Field, Input, TextArea } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { valueTypesOf, type Draft, type Problems } from "./draft.ts";
import { kindOptions, valueLabels } from "./labels.ts";
import { NameAndSlug } from "./name-fields.tsx";
import { PassingFields, ScoreFields } from "./score-fields.tsx";
import { RuleFields } from "./rule-fields.tsx";

export type FieldsProps = { draft: Draft; problems: Problems; onChange: (change: Partial<Draft>) => void };

export function EvaluatorFields({ isNew, ...props }: FieldsProps & { isNew: boolean }): ReactNode {
  const { draft, problems, onChange } = props;
  return (
    <>
      <NameAndSlug
        draft={draft}
        isNew={isNew}
        problems={problems}
        slugMember="evaluator_slug"
        slugHint="Filters name it: score.<slug>."
        onChange={onChange}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Scored by" error={problems["type"]}>
          {(control) => (
            <Select
              {...control}
              disabled={!isNew}
              value={draft.kind}
              options={kindOptions}
              onValueChange={(kind) => onChange({ kind })}
            />
          )}
        </Field>
        <Field label="Score is" error={problems["score_value_type"]}>
          {(control) => (
            <Select
              {...control}
              value={draft.valueType}
              options={valueTypesOf(draft.kind, draft.rule).map((value) => ({ value, label: valueLabels[value] }))}
              onValueChange={(valueType) => onChange({ valueType })}
            />
          )}
        </Field>
      </div>
      {draft.kind === "rule" && <RuleFields {...props} />}
      {draft.kind === "code" && <CodeField {...props} />}
      {draft.kind === "llm" && <JudgeFields {...props} />}
      <ScoreFields {...props} />
      <PassingFields {...props} />
      <Field label="Description" error={problems["description"]}>
        {(control) => (
          <Input
            {...control}
            value={draft.description}
            onChange={({ target }) => onChange({ description: target.value })}
          />
        )}
      </Field>
    </>
  );
}

function CodeField({ draft, problems, onChange }: FieldsProps): ReactNode {
  return (
    <Field
      label="JavaScript"
      hint="main returns the score, or {score, explanation}. It has one second and no I/O."
      error={problems["code_config"]}
    >
      {(control) => (
        <TextArea
          {...control}
          required
          rows={10}
          spellCheck={false}
          className="figures"
          value={draft.code}
          onChange={({ target }) => onChange({ code: target.value })}
        />
      )}
    </Field>
  );
}

function JudgeFields({ draft, problems, onChange }: FieldsProps): ReactNode {
  return (
    <>
      <Field label="Model" hint="A model of this gateway, such as gpt-4o-mini.">
        {(control) => (
          <Input
            {...control}
            required
            value={draft.model}
            onChange={({ target }) => onChange({ model: target.value })}
          />
        )}
      </Field>
      <Field
        label="Prompt"
        hint="{{input}}, {{output}}, {{expected_output}}, {{metadata.key}} and {{metrics.latency}} are replaced."
        error={problems["llm_config"]}
      >
        {(control) => (
          <TextArea
            {...control}
            required
            rows={8}
            value={draft.prompt}
            onChange={({ target }) => onChange({ prompt: target.value })}
          />
        )}
      </Field>
      <Field label="Scoring rubric" hint="What the scores mean (optional).">
        {(control) => (
          <TextArea {...control} value={draft.rubric} onChange={({ target }) => onChange({ rubric: target.value })} />
        )}
      </Field>
    </>
  );
}
