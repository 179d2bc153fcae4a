import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSessionWatch } from "../../api/session-watch.ts";
import { identityOf, type Me } from "../../api/use-me.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Over the page when the session ended: what was typed there stays. Another person gets a page of their own. */
export function SessionDialog({ before }: { before: Me }): ReactNode {
  const queries = useQueryClient();
  const watch = useSessionWatch();
  return (
    <Dialog
      open
      isBlocking
      size="sm"
      onOpenChange={() => undefined}
      title="Your session has ended"
      description="Sign in to go on. What you typed is still there."
    >
      <SignInForm
        email={before.email}
        onSignedIn={(me) => {
          if (identityOf(me) === identityOf(before)) {
            watch.resume();
            void queries.invalidateQueries();
          } else {
            // The dialog stays over what was shown until that is gone.
            queries.clear();
            location.assign("/");
          }
        }}
      />
    </Dialog>
  );
}
