import { useState, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { formOf, readForm, type CustomerFields } from "./budget-form.ts";
import { CustomerFormFields } from "./customer-form-fields.tsx";
import { EditConflict, useUpdateCustomer } from "./queries.ts";

type EditProps = { customer: CustomerFields & { customer_identifier: string }; onClose: () => void };

/** Saves only changed fields, and asks before it overwrites changes that somebody else made meanwhile. */
export function EditCustomer({ customer, onClose }: EditProps): ReactNode {
  const [base, setBase] = useState<CustomerFields>(customer);
  const [form, setForm] = useState(() => formOf(customer));
  const [isTried, setIsTried] = useState(false);
  const update = useUpdateCustomer(customer.customer_identifier);
  const { change, problems } = readForm(base, form);
  const hasProblems = Object.keys(problems).length > 0;
  /** `seen` holds the values that the user knows to be overwritten; a change of them by somebody else asks again. */
  const save = (seen: CustomerFields) => {
    setIsTried(true);
    if (hasProblems) return;
    if (Object.keys(change).length === 0) onClose();
    else update.mutate({ base: seen, change }, { onSuccess: onClose });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(base);
  };
  const conflict = update.error instanceof EditConflict ? update.error : undefined;
  const refused = update.error instanceof ApiError ? update.error.errors : {};
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Edit customer"
      description={visibleLine(customer.customer_identifier)}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="edit-customer" variant="primary" isBusy={update.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form id="edit-customer" className="flex flex-col gap-3" onSubmit={submit}>
        {conflict !== undefined && (
          <div role="alert" className="rounded-md border border-warn/40 bg-warn-soft px-3 py-2">
            <p>{conflict.message}</p>
            <div className="mt-2 flex gap-2">
              <Button
                size="sm"
                onClick={() => {
                  setBase(conflict.current);
                  setForm(formOf(conflict.current));
                  update.reset();
                }}
              >
                Take theirs
              </Button>
              <Button size="sm" onClick={() => save(conflict.current)}>
                Save mine
              </Button>
            </div>
          </div>
        )}
        <CustomerFormFields form={form} onChange={setForm} problems={isTried ? problems : {}} refused={refused} />
        {update.error !== null && conflict === undefined && <ErrorPanel error={update.error} />}
      </form>
    </Dialog>
  );
}
