import type { ReactNode } from "react";
import type { Me } from "../../api/use-me.ts";
import { PasswordPanel } from "./password-panel.tsx";
import { SessionsPanel } from "./sessions-panel.tsx";

/** What people settle for themselves. */
export function AccountPanels({ me }: { me: Me }): ReactNode {
  return (
    <div className="flex flex-col gap-3 md:gap-4">
      <PasswordPanel email={me.email} />
      <SessionsPanel />
    </div>
  );
}
