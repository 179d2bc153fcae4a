import type { ReactNode } from "react";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { AlertForm } from "./alert-form.ts";
import { metricOptions, metricUnit, operatorSigns, scorePrefix } from "./alert-words.ts";
import { useEvaluatorChoices, type Alert } from "./queries.ts";
import { windowOptions, withChosen } from "./rule-choices.ts";

const metricsAndScores = [...metricOptions, { value: scorePrefix, label: "Score of an evaluator" }];

const operators = Object.entries(operatorSigns).map(([value, label]) => ({ value: value as Alert["operator"], label }));

const comparisons = [
  { value: "value", label: "The value" },
  { value: "change", label: "Its change, %" },
] as const;

type PartProps = {
  form: AlertForm;
  /** The error message for a field of the API. */
  errorOf: (name: string) => string | undefined;
  set: (more: Partial<AlertForm>) => void;
};

type TextName = "name" | "bound" | "minRequests";

/** The props that bind a text field to the form. */
export const lineOf = (form: AlertForm, set: PartProps["set"]) => (name: TextName) => ({
  value: form[name],
  onChange: ({ target }: { target: HTMLInputElement }) => set({ [name]: target.value }),
});

export function MetricFields({ form, set, errorOf }: PartProps): ReactNode {
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field label="Metric" error={form.metric === scorePrefix ? undefined : errorOf("metric")}>
        {(control) => (
          <Select
            {...control}
            value={form.metric}
            options={metricsAndScores}
            onValueChange={(metric) => set({ metric })}
          />
        )}
      </Field>
      {form.metric === scorePrefix && <EvaluatorField form={form} set={set} error={errorOf("metric")} />}
      <Field label="Window" error={errorOf("window")}>
        {(control) => (
          <Select
            {...control}
            value={form.window}
            options={withChosen(windowOptions, form.window)}
            onValueChange={(window) => set({ window })}
          />
        )}
      </Field>
    </div>
  );
}

function EvaluatorField({
  form,
  set,
  error,
}: Pick<PartProps, "form" | "set"> & { error: string | undefined }): ReactNode {
  const evaluators = useEvaluatorChoices();
  const options = [{ value: "", label: "choose one", disabled: true }, ...(evaluators.data ?? [])];
  return (
    <Field label="Evaluator" error={error ?? evaluators.error?.message}>
      {(control) => (
        <Select
          {...control}
          value={form.evaluator}
          options={withChosen(options, form.evaluator)}
          onValueChange={(evaluator) => set({ evaluator })}
        />
      )}
    </Field>
  );
}

export function ComparisonFields({ form, set, errorOf }: PartProps): ReactNode {
  const line = lineOf(form, set);
  const unit = form.comparison === "change" ? "%" : metricUnit(form.metric);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_4rem_minmax(0,1fr)] items-start gap-2">
      <Field label="Alert when" hint={form.comparison === "change" ? "From the previous window." : undefined}>
        {(control) => (
          <Select
            {...control}
            value={form.comparison}
            options={comparisons}
            onValueChange={(comparison) => set({ comparison })}
          />
        )}
      </Field>
      <Field label="is">
        {(control) => (
          <Select
            {...control}
            value={form.operator}
            options={operators}
            onValueChange={(operator) => set({ operator })}
          />
        )}
      </Field>
      <Field
        label={unit === undefined ? "Threshold" : `Threshold, ${unit}`}
        error={errorOf("threshold") ?? errorOf("change_percentage")}
      >
        {(control) => <Input {...control} inputMode="decimal" {...line("bound")} />}
      </Field>
    </div>
  );
}
