import { useState, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SecretOnce } from "../settings/secret-once.tsx";
import { AlertFormFields } from "./alert-form-fields.tsx";
import { changeOf, emptyForm, formOf, readForm } from "./alert-form.ts";
import { useCreateAlert, useUpdateAlert, type Alert } from "./queries.ts";

/** Creates an alert, or edits an existing one. */
export function EditAlert({ alert, onClose }: { alert?: Alert; onClose: () => void }): ReactNode {
  const [before] = useState(() => (alert === undefined ? emptyForm : formOf(alert)));
  const [form, setForm] = useState(before);
  const [isTried, setIsTried] = useState(false);
  const [made, setMade] = useState<Alert>();
  const create = useCreateAlert();
  const update = useUpdateAlert();
  const { error, isPending } = alert === undefined ? create : update;
  const refused = error instanceof ApiError ? error.errors : {};
  const { problems } = readForm(form);
  const finish = (saved: Alert) => {
    if (saved.channels.some(({ secrets }) => secrets !== undefined)) setMade(saved);
    else onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    const read = readForm(form);
    if (Object.keys(read.problems).length > 0) return;
    if (alert === undefined) create.mutate(read.body, { onSuccess: finish });
    else {
      const change = changeOf(before, form);
      if (Object.keys(change).length === 0) onClose();
      else update.mutate({ id: alert.id, body: change }, { onSuccess: finish });
    }
  };
  if (made !== undefined) return <Secrets alert={made} onClose={onClose} />;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={alert === undefined ? "New alert" : "Edit alert"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="edit-alert" variant="primary" isBusy={isPending}>
            {alert === undefined ? "Create alert" : "Save"}
          </Button>
        </>
      }
    >
      <form id="edit-alert" className="flex flex-col gap-3" noValidate onSubmit={submit}>
        <AlertFormFields
          form={form}
          onChange={setForm}
          errorOf={(name) => refused[name]?.join(" ") ?? (isTried ? problems[name] : undefined)}
        />
        {error !== null && <ErrorPanel error={error} />}
      </form>
    </Dialog>
  );
}

/** The secrets of newly created webhooks. */
function Secrets({ alert, onClose }: { alert: Alert; onClose: () => void }): ReactNode {
  const signed = alert.channels.filter(({ secrets }) => secrets !== undefined);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="The alert is saved"
      description="Check with its secret that what a webhook gets is genuine."
      footer={<Button onClick={onClose}>Done</Button>}
    >
      <div className="flex flex-col gap-3">
        {signed.map(({ id, url, secrets = "" }) => (
          <div key={id} className="flex flex-col gap-1">
            <span className="truncate text-sm text-muted">{url}</span>
            <SecretOnce label={`secret of ${url ?? "the webhook"}`} secret={secrets} />
          </div>
        ))}
      </div>
    </Dialog>
  );
}
