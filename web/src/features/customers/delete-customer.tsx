import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { useDeleteCustomer } from "./queries.ts";

type DeleteProps = { customerId: string; onClose: () => void; onDeleted: () => void };

/** Deletion cannot be undone: the id has to be typed. */
export function DeleteCustomer({ customerId, onClose, onDeleted }: DeleteProps): ReactNode {
  const [typed, setTyped] = useState("");
  const remove = useDeleteCustomer(customerId, onDeleted);
  const shown = visibleLine(customerId);
  // What is not seen cannot be typed.
  const isTyped = typed === customerId || typed === shown;
  const confirm = () => {
    if (isTyped && !remove.isPending) remove.mutate();
  };
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={(open) => !open && onClose()}
      title="Delete this customer?"
      description="This cannot be undone."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" disabled={!isTyped} isBusy={remove.isPending} onClick={confirm}>
            Delete customer
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          confirm();
        }}
      >
        <p>
          Profile and budgets are removed. Spans are kept with their content, but name nobody. A new call that names{" "}
          <strong className="break-all">{shown}</strong> makes a new customer, without a budget.
        </p>
        <Field label={<>Type the id to confirm</>}>
          {(control) => (
            <Input {...control} autoFocus value={typed} onChange={({ target }) => setTyped(target.value)} />
          )}
        </Field>
        {remove.error !== null && <ErrorPanel error={remove.error} />}
      </form>
    </Dialog>
  );
}
