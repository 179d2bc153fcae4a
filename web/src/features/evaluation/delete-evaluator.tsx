import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import type { Evaluator } from "./draft.ts";
import { useDeleteEvaluator } from "./queries.ts";

type DeleteProps = { evaluator: Evaluator; onClose: () => void; onDeleted: () => void };

export function DeleteEvaluator({ evaluator, onClose, onDeleted }: DeleteProps): ReactNode {
  const remove = useDeleteEvaluator();
  return (
    <ConfirmDialog
      open
      title="Delete this evaluator?"
      action="Delete evaluator"
      isBusy={remove.isPending}
      onOpenChange={onClose}
      onConfirm={() => remove.mutate(evaluator.id, { onSuccess: onDeleted })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      <strong className="break-all">{visibleLine(evaluator.name)}</strong> is deleted with its versions. Its scores
      stay.
    </ConfirmDialog>
  );
}
