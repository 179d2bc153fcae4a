import { useState, type ReactNode } from "react";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import type { KnownProvider } from "./queries.ts";
import type { SettingForm } from "./setting-form.ts";

/** The empty name stands for a self-hosted server: no provider has it. */
const ownServer = "";

/** Chooses a known provider, or a self-hosted server with a name. */
export function ProviderField({
  known,
  form,
  onChange,
  error,
}: {
  known: readonly KnownProvider[];
  form: SettingForm;
  onChange: (change: Pick<SettingForm, "provider">) => void;
  error: string | readonly string[] | undefined;
}): ReactNode {
  const builtIn = known.filter((each) => each.is_built_in).map(({ provider }) => provider);
  const [isOwn, setOwn] = useState(!builtIn.includes(form.provider));
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Provider" error={isOwn ? undefined : error}>
        {(control) => (
          <Select
            {...control}
            autoFocus
            value={isOwn ? ownServer : form.provider}
            options={[
              { value: ownServer, label: "Your own server…" },
              ...builtIn.map((name) => ({ value: name, label: name })),
            ]}
            onValueChange={(provider) => {
              setOwn(provider === ownServer);
              onChange({ provider });
            }}
          />
        )}
      </Field>
      {isOwn && (
        <Field label="Name of your server" hint="Calls name it: my-lab/model" error={error}>
          {(control) => (
            <Input
              {...control}
              placeholder="my-lab"
              value={form.provider}
              onChange={({ target }) => onChange({ provider: target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
