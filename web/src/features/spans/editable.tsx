import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";

/** Disables all controls in it if the role does not permit editing. */
export function Editable({ children }: { children: ReactNode }): ReactNode {
  const mayEdit = useCan("scores:write");
  return (
    <fieldset
      disabled={!mayEdit}
      title={mayEdit ? undefined : "Your role does not permit editing."}
      className="min-w-0"
    >
      {children}
    </fieldset>
  );
}
