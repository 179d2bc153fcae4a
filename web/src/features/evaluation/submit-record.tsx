import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";

type SubmitProps = { noun: string; isNew: boolean; isChanged: boolean; isBusy: boolean };

/** Stores the record of a form; without a change it says why it does not. */
export function SubmitRecord({ noun, isNew, isChanged, isBusy }: SubmitProps): ReactNode {
  const why = isNew ? `Fill in the ${noun} first.` : "Nothing is changed.";
  return (
    <div className="flex items-center gap-2">
      <Button type="submit" variant="primary" disabled={!isChanged} isBusy={isBusy} title={isChanged ? undefined : why}>
        {isNew ? `Create ${noun}` : "Save"}
      </Button>
      {!isChanged && !isBusy && <span className="text-sm text-muted">{why}</span>}
    </div>
  );
}
