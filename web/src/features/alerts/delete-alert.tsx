import type { ReactNode } from "react";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { useDeleteAlert, type Alert } from "./queries.ts";

type DeleteProps = { alert: Alert; onClose: () => void; onDeleted: () => void };

export function DeleteAlert({ alert, onClose, onDeleted }: DeleteProps): ReactNode {
  const remove = useDeleteAlert(onDeleted);
  return (
    <ConfirmDialog
      open
      title="Delete this alert?"
      action="Delete alert"
      isBusy={remove.isPending}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={() => remove.mutate(alert.id)}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      <strong className="break-words">{alert.name}</strong>, its history and its channels are deleted for good.
    </ConfirmDialog>
  );
}
