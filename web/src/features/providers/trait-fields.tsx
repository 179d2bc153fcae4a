import type { ReactNode } from "react";
import { useEnvironment } from "../../api/use-api.ts";
import { Field, Input, TextArea } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { SettingForm } from "./setting-form.ts";

type FieldsProps = {
  form: SettingForm;
  onChange: (change: Partial<SettingForm>) => void;
  errorOf: (name: string) => string | readonly string[] | undefined;
};

/** The calls that a credential serves. */
export function TraitFields({ form, onChange, errorOf }: FieldsProps): ReactNode {
  const environment = useEnvironment();
  const environments =
    environment === "prod"
      ? ([
          { value: "prod", label: "prod" },
          { value: "both", label: "prod and test" },
        ] as const)
      : ([{ value: "test", label: "test" }] as const);
  const models = (name: "available" | "excluded", field: string, label: string, hint: string) => (
    <Field label={label} hint={hint} error={errorOf(field)}>
      {(control) => (
        <TextArea
          {...control}
          rows={2}
          spellCheck={false}
          className="font-mono text-sm"
          value={form[name]}
          onChange={({ target }) => onChange({ [name]: target.value })}
        />
      )}
    </Field>
  );
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        {models("available", "available_models", "Models it serves", "One per line; empty for all.")}
        {models("excluded", "exclude_models", "Models it does not serve", "One per line.")}
      </div>
      <div className="grid gap-3 sm:grid-cols-3">
        <Field label="Name" error={errorOf("name")}>
          {(control) => (
            <Input
              {...control}
              placeholder={form.provider}
              value={form.name}
              onChange={({ target }) => onChange({ name: target.value })}
            />
          )}
        </Field>
        <Field label="Environment" error={errorOf("environment")}>
          {(control) => (
            <Select
              {...control}
              value={form.environment}
              options={environments}
              onValueChange={(chosen) => onChange({ environment: chosen })}
            />
          )}
        </Field>
        <Field label="Weight" hint="Its share of calls" error={errorOf("weight")}>
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={form.weight}
              onChange={({ target }) => onChange({ weight: target.value })}
            />
          )}
        </Field>
      </div>
    </>
  );
}
