import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useChangePassword } from "./queries.ts";

export function PasswordPanel({ email }: { email: string }): ReactNode {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const toast = useToast();
  const change = useChangePassword();
  const problems = change.error instanceof ApiError ? change.error.errors : {};
  const save = (): void =>
    change.mutate(
      { current_password: current, new_password: next },
      {
        onSuccess() {
          setCurrent("");
          setNext("");
          toast.done("Password changed", "You are signed out everywhere else.");
        },
      },
    );
  return (
    <Panel title="Password">
      <form
        className="flex max-w-[480px] flex-col gap-3 p-3"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
        <Field label="Current password" error={problems["current_password"]}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="current-password"
              required
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="New password"
          hint="At least 8 characters. Your other sessions and your temporary keys end."
          error={problems["new_password"]}
        >
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              required
              value={next}
              onChange={(event) => setNext(event.target.value)}
            />
          )}
        </Field>
        {change.error !== null && Object.keys(problems).length === 0 && <ErrorPanel error={change.error} />}
        <div>
          <Button type="submit" variant="primary" isBusy={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  );
}
