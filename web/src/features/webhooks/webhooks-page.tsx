import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { formatInteger } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Refusals } from "../../ui/refusals.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useToast } from "../../ui/toast.tsx";
import { DeliveriesPanel } from "./deliveries-panel.tsx";
import { EditWebhook } from "./edit-webhook.tsx";
import { useDeleteWebhook, useUpdateWebhook, useWebhooks, type Webhook } from "./queries.ts";
import { RotateSecret } from "./rotate-secret.tsx";
import { WebhooksTable } from "./webhooks-table.tsx";

type OpenPart = { part: "create" } | { part: "edit" | "rotate" | "delete"; webhook: Webhook };

type PageProps = { opened: number | undefined; onOpen: (id: number | undefined) => void };

export function WebhooksPage({ opened, onOpen }: PageProps): ReactNode {
  const mayWrite = useCan("webhooks:write");
  const [open, setOpen] = useState<OpenPart>();
  const { data: webhooks, error, refetch } = useWebhooks();
  const update = useUpdateWebhook();
  const say = useToast();
  const close = () => setOpen(undefined);
  const shown = webhooks?.find(({ id }) => id === opened);
  const create = mayWrite && (
    <Button icon="plus" variant="primary" onClick={() => setOpen({ part: "create" })}>
      New webhook
    </Button>
  );
  const toggle = ({ id, active }: Webhook) =>
    update.mutate(
      { id, body: { active: !active } },
      { onError: (failure) => say.failed("The webhook was not changed", failure) },
    );
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <header className="flex min-h-7 flex-wrap items-center gap-2">
        <h1 className="sr-only">Webhooks</h1>
        <span className="flex-1 text-muted tabular-nums">
          {webhooks && `${formatInteger(webhooks.length)} ${webhooks.length === 1 ? "webhook" : "webhooks"}`}
        </span>
        {webhooks?.length !== 0 && create}
      </header>
      <Panel>
        {error !== null ? (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        ) : webhooks === undefined ? (
          <SkeletonRows rows={6} />
        ) : webhooks.length === 0 ? (
          <EmptyState icon="webhook" title="No webhooks" {...(create !== false && { action: create })}>
            A webhook is a URL of yours that is called when something happens.
          </EmptyState>
        ) : (
          <>
            <Refusals of={webhooks.filter(({ active }) => active)} />
            <WebhooksTable
              webhooks={webhooks}
              onOpen={({ id }) => onOpen(id)}
              onToggle={toggle}
              onEdit={(webhook) => setOpen({ part: "edit", webhook })}
              onRotate={(webhook) => setOpen({ part: "rotate", webhook })}
              onDelete={(webhook) => {
                // A deleted webhook has no deliveries to request.
                if (webhook.id === opened) onOpen(undefined);
                setOpen({ part: "delete", webhook });
              }}
            />
          </>
        )}
      </Panel>
      {shown !== undefined && <DeliveriesPanel key={shown.id} webhook={shown} onClose={() => onOpen(undefined)} />}
      {open?.part === "create" && <EditWebhook onClose={close} />}
      {open?.part === "edit" && <EditWebhook webhook={open.webhook} onClose={close} />}
      {open?.part === "rotate" && <RotateSecret webhook={open.webhook} onClose={close} />}
      {open?.part === "delete" && <DeleteWebhook webhook={open.webhook} onClose={close} />}
    </div>
  );
}

function DeleteWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }): ReactNode {
  const remove = useDeleteWebhook();
  return (
    <ConfirmDialog
      open
      title="Delete this webhook?"
      action="Delete webhook"
      isBusy={remove.isPending}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={() => remove.mutate(webhook.id, { onSuccess: onClose })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      <strong className="break-words">{webhook.name}</strong> is called no more. Its deliveries are deleted for good.
    </ConfirmDialog>
  );
}
