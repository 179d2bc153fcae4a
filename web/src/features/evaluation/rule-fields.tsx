import type { ReactNode } from "react";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Field, Input, TextArea } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { FieldsProps } from "./evaluator-fields.tsx";
import { ruleOptions } from "./labels.ts";

const targets = [
  { value: "output", label: "Output" },
  { value: "input", label: "Input" },
] as const;

const matches = [
  { value: "any", label: "any of them" },
  { value: "all", label: "all of them" },
] as const;

export function RuleFields(props: FieldsProps): ReactNode {
  const { draft, onChange } = props;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="What is checked">
          {(control) => (
            <Select
              {...control}
              value={draft.target}
              options={targets}
              onValueChange={(target) => onChange({ target })}
            />
          )}
        </Field>
        <Field label="Rule">
          {(control) => (
            <Select
              {...control}
              value={draft.rule}
              options={ruleOptions}
              onValueChange={(rule) => onChange({ rule })}
            />
          )}
        </Field>
      </div>
      {draft.rule === "contains" && <ContainsFields {...props} />}
      {draft.rule === "regex" && <RegexFields {...props} />}
      {draft.rule === "json_schema" && <SchemaField {...props} />}
      {draft.rule === "similarity" && <ExpectedField {...props} />}
    </>
  );
}

function ContainsFields({ draft, problems, onChange }: FieldsProps): ReactNode {
  return (
    <>
      <Field label="Texts" hint="One per line." error={problems["rule_config"]}>
        {(control) => (
          <TextArea
            {...control}
            required
            value={draft.texts}
            onChange={({ target }) => onChange({ texts: target.value })}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-4">
        <label className="flex items-center gap-2">
          It has
          <Select value={draft.match} options={matches} onValueChange={(match) => onChange({ match })} />
        </label>
        <label className="flex items-center gap-2">
          <Checkbox
            checked={draft.isCaseSensitive}
            onCheckedChange={(isCaseSensitive) => onChange({ isCaseSensitive })}
          />
          Case-sensitive
        </label>
      </div>
    </>
  );
}

function RegexFields({ draft, problems, onChange }: FieldsProps): ReactNode {
  return (
    <div className="grid gap-3 sm:grid-cols-[1fr_80px]">
      <Field label="Pattern" error={problems["rule_config"]}>
        {(control) => (
          <Input
            {...control}
            required
            className="figures"
            value={draft.pattern}
            onChange={({ target }) => onChange({ pattern: target.value })}
          />
        )}
      </Field>
      <Field label="Flags">
        {(control) => (
          <Input
            {...control}
            className="figures"
            placeholder="is"
            value={draft.flags}
            onChange={({ target }) => onChange({ flags: target.value })}
          />
        )}
      </Field>
    </div>
  );
}

function SchemaField({ draft, problems, onChange }: FieldsProps): ReactNode {
  return (
    <Field label="JSON schema" error={problems["rule_config"]}>
      {(control) => (
        <TextArea
          {...control}
          required
          rows={8}
          spellCheck={false}
          className="figures"
          value={draft.schema}
          onChange={({ target }) => onChange({ schema: target.value })}
        />
      )}
    </Field>
  );
}

function ExpectedField({ draft, problems, onChange }: FieldsProps): ReactNode {
  return (
    <Field label="Expected text" hint="Empty: the log's own ideal_output." error={problems["rule_config"]}>
      {(control) => (
        <TextArea {...control} value={draft.expected} onChange={({ target }) => onChange({ expected: target.value })} />
      )}
    </Field>
  );
}
