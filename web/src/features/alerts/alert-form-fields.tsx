import { useMemo, type ReactNode } from "react";
import { windowOf } from "../../lib/range.ts";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { QueryField } from "../series/query-field.tsx";
import type { AlertForm } from "./alert-form.ts";
import { ChannelFields } from "./channel-fields.tsx";
import { GroupByFields } from "./group-by-fields.tsx";
import { ComparisonFields, lineOf, MetricFields } from "./metric-fields.tsx";
import { cooldownOptions, withChosen } from "./rule-choices.ts";

type FieldsProps = {
  form: AlertForm;
  onChange: (form: AlertForm) => void;
  /** The error message for a field of the API. */
  errorOf: (name: string) => string | undefined;
};

export function AlertFormFields({ form, onChange, errorOf }: FieldsProps): ReactNode {
  const lastDay = useMemo(() => windowOf({ range: "24h" }), []);
  const set = (more: Partial<AlertForm>) => onChange({ ...form, ...more });
  const line = lineOf(form, set);
  return (
    <>
      <Field label="Name" error={errorOf("name")}>
        {(control) => <Input {...control} autoFocus placeholder="Too many errors" {...line("name")} />}
      </Field>
      <QueryField
        label="Spans"
        hint="A query as in Logs. Empty: all spans."
        value={form.query}
        onChange={(query) => set({ query })}
        window={lastDay}
        error={errorOf("filters")}
      />
      <MetricFields form={form} set={set} errorOf={errorOf} />
      <ComparisonFields form={form} set={set} errorOf={errorOf} />
      <GroupByFields
        value={form.groupBy}
        onChange={(groupBy) => set({ groupBy })}
        window={lastDay}
        error={errorOf("group_by")}
      />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Minimum requests" hint="With fewer, there is no data." error={errorOf("min_requests")}>
          {(control) => <Input {...control} inputMode="numeric" {...line("minRequests")} />}
        </Field>
        <Field label="Cooldown" hint="No further notification for this long." error={errorOf("cooldown")}>
          {(control) => (
            <Select
              {...control}
              value={form.cooldown}
              options={withChosen(cooldownOptions, form.cooldown)}
              onValueChange={(cooldown) => set({ cooldown })}
            />
          )}
        </Field>
      </div>
      <ChannelFields
        channels={form.channels}
        onChange={(channels) => set({ channels })}
        errorOf={(place) =>
          errorOf(`channels.${place}`) ?? errorOf(`channels.${place}.url`) ?? errorOf(`channels.${place}.to`)
        }
      />
    </>
  );
}
