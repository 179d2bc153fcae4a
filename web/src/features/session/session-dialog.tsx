import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSessionWatch } from "../../api/session-watch.ts";
import { identityOf, type Me } from "../../api/use-me.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/**
 * Shown over the page when the session ended, so that typed input is kept. Signing in as another person reloads the
 * page.
 */
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
      description="Sign in to continue. What you typed is still there."
    >
      <SignInForm
        email={before.email}
        onSignedIn={(me) => {
          if (identityOf(me) === identityOf(before)) {
            watch.resume();
            void queries.invalidateQueries();
          } else {
            // The dialog covers the previous data until it is removed.
            queries.clear();
            location.assign("/");
          }
        }}
      />
    </Dialog>
  );
}
