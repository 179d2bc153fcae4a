import type { ReactNode } from "react";
import type { Me } from "../../api/use-me.ts";
import { PasswordPanel } from "./password-panel.tsx";
import { SessionsPanel } from "./sessions-panel.tsx";

/** The settings of the signed-in person. */
export function AccountPanels({ me }: { me: Me }): ReactNode {
  return (
    <div className="flex flex-col gap-3 md:gap-4">
      <PasswordPanel email={me.email} />
      <SessionsPanel />
    </div>
  );
}
