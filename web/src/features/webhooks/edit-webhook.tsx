import { useState, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { SecretOnce } from "../settings/secret-once.tsx";
import { eventOptions } from "./events.ts";
import { changeOf, useCreateWebhook, useUpdateWebhook, type Webhook } from "./queries.ts";

/** Creates a webhook and shows its secret, or edits one. */
export function EditWebhook({ webhook, onClose }: { webhook?: Webhook; onClose: () => void }): ReactNode {
  const [name, setName] = useState(webhook?.name ?? "");
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [event, setEvent] = useState<Webhook["event_type"]>(webhook?.event_type ?? "request_log");
  const create = useCreateWebhook();
  const update = useUpdateWebhook();
  const { error, isPending } = webhook === undefined ? create : update;
  const problems = error instanceof ApiError ? error.errors : {};
  const onOpenChange = (open: boolean) => !open && onClose();
  const made = create.data;
  if (made !== undefined) {
    return (
      <Dialog
        open
        onOpenChange={onOpenChange}
        size="sm"
        title={made.name}
        description="Check with the secret that a request is genuine."
        footer={<Button onClick={onClose}>Done</Button>}
      >
        <SecretOnce label="secret" secret={made.secrets ?? ""} />
      </Dialog>
    );
  }
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    const body = { name, url, event_type: event };
    if (webhook === undefined) return create.mutate(body);
    const change = changeOf(body, webhook);
    if (Object.keys(change).length === 0) return onClose();
    return update.mutate({ id: webhook.id, body: change }, { onSuccess: onClose });
  };
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      size="sm"
      title={webhook === undefined ? "New webhook" : "Edit webhook"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="edit-webhook" variant="primary" isBusy={isPending}>
            {webhook === undefined ? "Create webhook" : "Save"}
          </Button>
        </>
      }
    >
      <form id="edit-webhook" className="flex flex-col gap-3" onSubmit={submit}>
        <Field label="Name" error={problems["name"]}>
          {(control) => (
            <Input {...control} required autoFocus value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <Field label="URL" hint="Private addresses are refused when they are called." error={problems["url"]}>
          {(control) => (
            <Input
              {...control}
              required
              placeholder="https://example.com/hook"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
        <Field label="Event" error={problems["event_type"]}>
          {(control) => <Select {...control} value={event} options={eventOptions} onValueChange={setEvent} />}
        </Field>
        {error !== null && Object.keys(problems).length === 0 && <ErrorPanel error={error} />}
      </form>
    </Dialog>
  );
}
