import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { useDeleteAutomation, type Automation } from "./automation-queries.ts";

type DeleteProps = { automation: Automation; onClose: () => void; onDeleted: () => void };

export function DeleteAutomation({ automation, onClose, onDeleted }: DeleteProps): ReactNode {
  const remove = useDeleteAutomation();
  return (
    <ConfirmDialog
      open
      title="Delete this automation?"
      action="Delete automation"
      isBusy={remove.isPending}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={() => remove.mutate(automation.id, { onSuccess: onDeleted })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      <strong className="break-words">{visibleLine(automation.name)}</strong> is deleted. Logs that wait for it are left
      out; its scores, its condition and its evaluators stay.
    </ConfirmDialog>
  );
}
