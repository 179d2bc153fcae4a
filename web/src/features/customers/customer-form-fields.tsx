import type { ReactNode } from "react";
import type { FieldErrors } from "../../api/api-error.ts";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { durations, type CustomerForm, type FieldName, type FieldProblems } from "./budget-form.ts";

type FieldsProps = {
  form: CustomerForm;
  onChange: (form: CustomerForm) => void;
  problems: FieldProblems;
  /** The server's messages for fields. */
  refused: FieldErrors;
};

const durationOptions = [
  { value: "", label: "no period" },
  ...durations.map((value) => ({ value: value as string, label: value })),
];

const unpricedOptions = [
  { value: "nothing", label: "count nothing" },
  { value: "amount", label: "count a fixed amount" },
  { value: "refuse", label: "are refused" },
] as const;

export function CustomerFormFields({ form, onChange, problems, refused }: FieldsProps): ReactNode {
  const errorOf = (name: FieldName) => refused[name] ?? problems[name];
  const line = (name: Exclude<FieldName, "unpriced_calls" | "budget_duration">, label: string, hint?: string) => (
    <Field label={label} hint={hint} error={errorOf(name)}>
      {(control) => (
        <Input
          {...control}
          inputMode={["name", "email", "group_identifier"].includes(name) ? "text" : "decimal"}
          value={form[name]}
          onChange={({ target }) => onChange({ ...form, [name]: target.value })}
        />
      )}
    </Field>
  );
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      {line("period_budget", "Budget for each period, USD", "Empty: no limit.")}
      <Field label="Period" hint="Of the calendar, in UTC." error={errorOf("budget_duration")}>
        {(control) => (
          <Select
            {...control}
            value={form.budget_duration}
            options={durationOptions}
            onValueChange={(value) => onChange({ ...form, budget_duration: value })}
          />
        )}
      </Field>
      {line("total_budget", "Lifetime budget, USD", "Empty: no limit.")}
      {line("rate_limit", "Requests a minute", "Of the gateway. Empty: no limit.")}
      <Field label="Calls without a known price" error={errorOf("unpriced_calls")}>
        {(control) => (
          <span className="flex gap-2">
            <Select
              {...control}
              className="flex-1"
              value={form.unpricedKind}
              options={unpricedOptions}
              onValueChange={(unpricedKind) => onChange({ ...form, unpricedKind })}
            />
            {form.unpricedKind === "amount" && (
              <Input
                aria-label="US dollars for each call without a known price"
                inputMode="decimal"
                placeholder="USD"
                className="!w-20"
                value={form.unpricedAmount}
                onChange={({ target }) => onChange({ ...form, unpricedAmount: target.value })}
              />
            )}
          </span>
        )}
      </Field>
      {line("markup_percentage", "Markup in usage reports, %", "Not in budgets.")}
      {line("name", "Name")}
      {line("email", "E-mail")}
      {line("group_identifier", "Group")}
    </div>
  );
}
