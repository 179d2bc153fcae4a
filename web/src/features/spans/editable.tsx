import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";

/** All controls in it are off where the role does not permit to edit. */
export function Editable({ children }: { children: ReactNode }): ReactNode {
  const mayEdit = useCan("scores:write");
  return (
    <fieldset
      disabled={!mayEdit}
      title={mayEdit ? undefined : "Your role does not permit to edit."}
      className="min-w-0"
    >
      {children}
    </fieldset>
  );
}
