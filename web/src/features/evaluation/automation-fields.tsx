import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { AutomationDraft } from "./automation-draft.ts";
import { useConditions } from "./condition-queries.ts";
import type { Problems } from "./draft.ts";
import { EvaluatorChoice } from "./evaluator-choice.tsx";
import { NameAndSlug } from "./name-fields.tsx";

export type AutomationFieldsProps = {
  draft: AutomationDraft;
  problems: Problems;
  onChange: (change: Partial<AutomationDraft>) => void;
};

export function AutomationFields(props: AutomationFieldsProps): ReactNode {
  const { draft, problems, onChange } = props;
  return (
    <>
      <NameAndSlug
        draft={draft}
        isNew={draft.base === undefined}
        problems={problems}
        slugMember="automation_slug"
        onChange={onChange}
      />
      <ConditionField {...props} />
      <EvaluatorChoice {...props} />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field
          label="Sample, % of matching logs"
          hint="The same log is always in or always out."
          error={problems["configuration.sampling_rate"]}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.sampling}
              onChange={({ target }) => onChange({ sampling: target.value })}
            />
          )}
        </Field>
        <Field
          label="Daily budget of judges, USD"
          hint="Empty: the server's default. Code and rules cost nothing."
          error={problems["configuration.daily_budget"]}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.budget}
              onChange={({ target }) => onChange({ budget: target.value })}
            />
          )}
        </Field>
      </div>
      <label className="flex items-center gap-2">
        <Checkbox checked={draft.isEnabled} onCheckedChange={(isEnabled) => onChange({ isEnabled })} />
        On: logs are evaluated as they arrive
      </label>
    </>
  );
}

function ConditionField({ draft, problems, onChange }: AutomationFieldsProps): ReactNode {
  const conditions = useConditions();
  const known = conditions.data?.map(({ id, name }) => ({ value: id, label: visibleLine(name) })) ?? [];
  const isKnown = known.some(({ value }) => value === draft.condition);
  const options = isKnown ? known : [{ value: draft.condition, label: "Choose a condition" }, ...known];
  if (conditions.error !== null) {
    return <ErrorPanel error={conditions.error} onRetry={() => void conditions.refetch()} />;
  }
  return (
    <Field
      label="Condition"
      error={problems["condition"]}
      hint={
        isKnown ? (
          <Link to="/evaluation" search={{ tab: "conditions", condition: draft.condition }} className={linkClass}>
            Open the condition
          </Link>
        ) : (
          <Link to="/evaluation" search={{ tab: "conditions", condition: "new" }} className={linkClass}>
            Make a condition
          </Link>
        )
      }
    >
      {(control) => (
        <Select
          {...control}
          value={draft.condition}
          options={options}
          onValueChange={(condition) => onChange({ condition })}
        />
      )}
    </Field>
  );
}

const linkClass = "text-accent hover:underline";
