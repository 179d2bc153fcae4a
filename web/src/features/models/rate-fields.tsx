import type { ReactNode } from "react";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { PriceForm } from "./price-form.ts";
import { nameOf, otherBuckets, unitOf } from "./rates.ts";

type Rates = PriceForm["rates"];

type RateProps = {
  rates: Rates;
  onChange: (rates: Rates) => void;
  errorOf: (field: string) => string | readonly string[] | undefined;
};

/** A field for each existing rate; others are added by name. */
export function RateFields({ rates, onChange, errorOf }: RateProps): ReactNode {
  const problem = errorOf("rates");
  const missing = otherBuckets.filter((bucket) => !Object.hasOwn(rates, bucket));
  const choices = [
    { value: "", label: "Choose…" },
    ...missing.map((bucket) => ({ value: bucket, label: `${nameOf(bucket)}, ${unitOf(bucket)}` })),
  ];
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="sr-only">Rates in US dollars</legend>
      <div className="grid grid-cols-2 gap-3">
        {Object.entries(rates).map(([bucket, typed]) => (
          <Field key={bucket} label={`${nameOf(bucket)}, USD`} hint={unitOf(bucket)} error={errorOf(`rates.${bucket}`)}>
            {(control) => (
              <Input
                {...control}
                inputMode="decimal"
                className="figures"
                value={typed}
                onChange={({ target }) => onChange({ ...rates, [bucket]: target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      <Field label="Another rate" error={problem} hint="The cost is unknown if a counted unit has no rate. 0 is free.">
        {(control) => (
          <Select
            {...control}
            value=""
            options={choices}
            onValueChange={(bucket) => bucket !== "" && onChange({ ...rates, [bucket]: "" })}
          />
        )}
      </Field>
    </fieldset>
  );
}
