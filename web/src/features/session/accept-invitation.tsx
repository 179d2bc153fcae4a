import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { bodyOf } from "../../api/client.ts";
import { useSessionWatch } from "../../api/session-watch.ts";
import { useApi, useApiQuery } from "../../api/use-api.ts";
import { identityOf, useSignIn } from "../../api/use-me.ts";
import { roleNouns } from "../../lib/role-nouns.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";

/** An invited person chooses a password and is signed in. */
export function AcceptInvitation({ token }: { token: string }): ReactNode {
  const [password, setPassword] = useState("");
  const isAccepted = useRef(false);
  const api = useApi();
  const queries = useQueryClient();
  const signIn = useSignIn();
  const watch = useSessionWatch();
  const params = { path: { token } };
  const invitation = useApiQuery(["invitation", token], (client, signal) =>
    bodyOf(client.GET("/api/invitations/{token}/", { params, signal })),
  );
  const accept = useMutation({
    async mutationFn(email: string) {
      // It can be accepted once: if only the sign-in failed, the next try signs in.
      if (!isAccepted.current) await api.POST("/api/invitations/{token}/", { params, body: { password } });
      isAccepted.current = true;
      const me = await signIn.mutateAsync({ email, password });
      watch.notifyOtherTabs({ kind: "signed-in", identity: identityOf(me) });
    },
    onSuccess() {
      queries.clear();
      location.assign("/");
    },
    meta: { isSignIn: true },
  });
  if (invitation.error !== null) return <UnusableInvitation error={invitation.error} />;
  if (invitation.data === undefined) return <SkeletonRows rows={3} />;
  const { email, role, organization_name: organization } = invitation.data;
  const problem = accept.error instanceof ApiError ? accept.error.errors["password"] : undefined;
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        accept.mutate(email);
      }}
    >
      <h1 className="text-lg font-semibold break-words">Join {organization}</h1>
      <p className="text-sm text-muted">
        You become {roleNouns[role]}, as <strong className="break-all">{email}</strong>.
      </p>
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <Field
        label="Choose a password"
        hint="At least 8 characters."
        error={problem?.map((words) => `The password ${words}.`)}
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="new-password"
            required
            autoFocus
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      {accept.error !== null && problem === undefined && <ErrorPanel error={accept.error} />}
      <Button type="submit" variant="primary" isBusy={accept.isPending} className="w-full">
        Join
      </Button>
    </form>
  );
}

/** The same person may already have used it. */
function UnusableInvitation({ error }: { error: Error }): ReactNode {
  return (
    <>
      {error instanceof ApiError && error.status === 404 ? (
        <p role="alert" className="text-center font-medium">
          This invitation was used or has expired
        </p>
      ) : (
        <ErrorPanel error={error} />
      )}
      <p className="mt-3 text-center text-sm text-muted">
        Did you join already?{" "}
        <Link to="/login" className="text-accent hover:underline">
          Sign in
        </Link>
      </p>
    </>
  );
}
