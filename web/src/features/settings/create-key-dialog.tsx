import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { useEnvironment } from "../../api/use-api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { expiries, expiryOf, keyUses, type Expiry, type KeyUse } from "./key-choices.ts";
import { useCreateKey } from "./queries.ts";
import { SecretOnce } from "./secret-once.tsx";

export function CreateKeyDialog({ onClose }: { onClose: () => void }): ReactNode {
  const [name, setName] = useState("");
  const [environment, setEnvironment] = useState(useEnvironment());
  const [use, setUse] = useState<KeyUse>("all");
  const [expiry, setExpiry] = useState<Expiry>("never");
  const create = useCreateKey();
  const problems = create.error instanceof ApiError ? create.error.errors : {};
  const made = create.data;
  if (made !== undefined) {
    return (
      <Dialog open onOpenChange={onClose} size="sm" title={made.name} footer={<Button onClick={onClose}>Done</Button>}>
        <SecretOnce label="key" secret={made.key} />
      </Dialog>
    );
  }
  const { permissions } = keyUses[use];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title="New API key"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="new-key" variant="primary" isBusy={create.isPending}>
            Create key
          </Button>
        </>
      }
    >
      <form
        id="new-key"
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          const expires_at = expiryOf(expiry, Date.now());
          create.mutate({ name, environment, expires_at, ...(permissions && { permissions: [...permissions] }) });
        }}
      >
        <Field label="Name" hint="What it is for, such as the program that uses it." error={problems["name"]}>
          {(control) => (
            <Input {...control} required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Environment" error={problems["environment"]}>
          {(control) => (
            <Select
              {...control}
              value={environment}
              options={[
                { value: "prod", label: "prod" },
                { value: "test", label: "test" },
              ]}
              onValueChange={setEnvironment}
            />
          )}
        </Field>
        <Field label="May" error={problems["permissions"]}>
          {(control) => (
            <Select
              {...control}
              value={use}
              options={Object.entries(keyUses).map(([value, { label }]) => ({ value: value as KeyUse, label }))}
              onValueChange={setUse}
            />
          )}
        </Field>
        <Field label="Ends" error={problems["expires_at"]}>
          {(control) => <Select {...control} value={expiry} options={expiries} onValueChange={setExpiry} />}
        </Field>
        {create.error !== null && Object.keys(problems).length === 0 && <ErrorPanel error={create.error} />}
      </form>
    </Dialog>
  );
}
