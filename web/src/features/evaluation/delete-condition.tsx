import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import type { Automation } from "./automation-queries.ts";
import { useDeleteCondition, type Condition } from "./condition-queries.ts";
import { AutomationLinks } from "./uses.tsx";

type DeleteProps = {
  condition: Condition;
  uses: readonly Automation[] | undefined;
  onClose: () => void;
  onDeleted: () => void;
};

/** A condition in use cannot be deleted: its automations must first get another one, or be deleted. */
export function DeleteCondition({ condition, uses = [], onClose, onDeleted }: DeleteProps): ReactNode {
  const remove = useDeleteCondition();
  if (uses.length > 0) {
    return (
      <Dialog
        open
        size="sm"
        title="This condition is in use"
        onOpenChange={(open) => !open && onClose()}
        footer={<Button onClick={onClose}>Close</Button>}
      >
        <p className="mb-2">Give these automations another condition, or delete them first:</p>
        <AutomationLinks uses={uses} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      open
      title="Delete this condition?"
      action="Delete condition"
      isBusy={remove.isPending}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={() => remove.mutate(condition.id, { onSuccess: onDeleted })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      <strong className="break-words">{visibleLine(condition.name)}</strong> is deleted. No automation uses it.
    </ConfirmDialog>
  );
}
