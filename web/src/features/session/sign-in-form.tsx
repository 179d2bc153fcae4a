import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { useSessionWatch } from "../../api/session-watch.ts";
import { identityOf, useSignIn, type Me } from "../../api/use-me.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";

export function SignInForm({
  email: known = "",
  onSignedIn,
}: {
  email?: string;
  onSignedIn: (me: Me) => void;
}): ReactNode {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState("");
  const signIn = useSignIn();
  const watch = useSessionWatch();
  const refusal = signIn.error instanceof ApiError && signIn.error.status === 401 ? signIn.error.message : undefined;
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate(
          { email: email.trim(), password },
          {
            onSuccess(me) {
              watch.notifyOtherTabs({ kind: "signed-in", identity: identityOf(me) });
              onSignedIn(me);
            },
          },
        );
      }}
    >
      <Field label="E-mail address">
        {(control) => (
          <Input
            {...control}
            type="email"
            name="email"
            autoComplete="username"
            required
            autoFocus={known === ""}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password" error={refusal}>
        {(control) => (
          <Input
            {...control}
            type="password"
            name="password"
            autoComplete="current-password"
            required
            autoFocus={known !== ""}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      {signIn.error !== null && refusal === undefined && <ErrorPanel error={signIn.error} />}
      <Button type="submit" variant="primary" isBusy={signIn.isPending} className="mt-1 w-full">
        Sign in
      </Button>
    </form>
  );
}
