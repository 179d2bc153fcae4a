import type { ReactNode } from "react";
import { Field } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { useMetadataKeys } from "../series/metadata-keys.ts";
import { groupOptions, withChosen } from "./rule-choices.ts";

type FieldsProps = {
  /** In the API's form: one or two names separated by a comma, or empty. */
  value: string;
  onChange: (value: string) => void;
  window: { start: string; end: string };
  error: string | undefined;
};

/** The one or two fields by which an alert groups spans; each group has its own state. */
export function GroupByFields({ value, onChange, window, error }: FieldsProps): ReactNode {
  const keys = useMetadataKeys({ query: "", window: { ...window, isMoving: false } });
  const [first = "", second = ""] = value.split(",").map((name) => name.trim());
  const options = groupOptions(keys);
  const set = (...names: string[]) => onChange([...new Set(names.filter((name) => name !== ""))].join(","));
  return (
    <div className="grid grid-cols-1 items-start gap-3 sm:grid-cols-2">
      <Field label="Group by" hint="Each group has a state of its own." error={error}>
        {(control) => (
          <Select
            {...control}
            value={first}
            options={withChosen(options, first)}
            onValueChange={(next) => set(next, next === "" ? "" : second)}
          />
        )}
      </Field>
      {first !== "" && (
        <Field label="and by">
          {(control) => (
            <Select
              {...control}
              value={second}
              options={withChosen(options, second).filter((option) => option.value !== first)}
              onValueChange={(next) => set(first, next)}
            />
          )}
        </Field>
      )}
    </div>
  );
}
