import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SecretOnce } from "../settings/secret-once.tsx";
import { useRotateSecret, type Webhook } from "./queries.ts";

/** Asks for confirmation, and shows the new secret. */
export function RotateSecret({ webhook, onClose }: { webhook: Webhook; onClose: () => void }): ReactNode {
  const rotate = useRotateSecret();
  const name = visibleLine(webhook.name);
  const onOpenChange = (open: boolean) => !open && onClose();
  if (rotate.data !== undefined) {
    return (
      <Dialog
        open
        onOpenChange={onOpenChange}
        size="sm"
        title={name}
        description="For 24 hours, deliveries are signed with the old secret too."
        footer={<Button onClick={onClose}>Done</Button>}
      >
        <SecretOnce label="secret" secret={rotate.data.secrets} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      open
      title="Make a new secret?"
      action="Make new secret"
      isBusy={rotate.isPending}
      onOpenChange={onOpenChange}
      onConfirm={() => rotate.mutate(webhook.id)}
      error={rotate.error !== null && <ErrorPanel error={rotate.error} />}
    >
      Requests to <strong className="break-words">{name}</strong> are signed with the new secret and, for 24 hours, with
      the old one too. A receiver that checks the older headers X-Spanway-Signature and X-Svc-Signature needs the new
      one at once.
    </ConfirmDialog>
  );
}
