import type { ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Field, Input } from "../../ui/input.tsx";
import { QueryField } from "../series/query-field.tsx";
import type { ConditionDraft } from "./condition-draft.ts";
import type { Problems } from "./draft.ts";
import { NameAndSlug } from "./name-fields.tsx";
import { policyText } from "./policy.ts";

type FieldsProps = {
  draft: ConditionDraft;
  problems: Problems;
  window: Window;
  onChange: (change: Partial<ConditionDraft>) => void;
};

export function ConditionFields({ draft, problems, window, onChange }: FieldsProps): ReactNode {
  const { base, query } = draft;
  return (
    <>
      <NameAndSlug
        draft={draft}
        isNew={base === undefined}
        problems={problems}
        slugMember="condition_slug"
        onChange={onChange}
      />
      <QueryField
        label="Which logs"
        hint="A query as in Logs. Empty: all logs. Scores do not exist yet when a log arrives."
        value={query}
        {...(base && { stored: visibleLine(policyText(base.condition_policy)) })}
        onChange={(text) => onChange({ query: text })}
        window={window}
        error={problems["condition_policy"]?.join(" ")}
      />
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
