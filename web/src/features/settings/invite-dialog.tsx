import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { roleNouns } from "../../lib/role-nouns.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { useInvite, type Member } from "./queries.ts";
import { roleOptions, roleWords } from "./roles.ts";
import { SecretOnce } from "./secret-once.tsx";

export function InviteDialog({ onClose }: { onClose: () => void }): ReactNode {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Member["role"]>("member");
  const invite = useInvite();
  const problems = invite.error instanceof ApiError ? invite.error.errors : {};
  const invited = invite.data;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={invited === undefined ? "Invite a colleague" : `Send this link to ${invited.email}`}
      footer={
        invited === undefined ? (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" form="invite" variant="primary" isBusy={invite.isPending}>
              Invite
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>Done</Button>
        )
      }
    >
      {invited === undefined ? (
        <form
          id="invite"
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            invite.mutate({ email, role });
          }}
        >
          <Field label="E-mail address" error={problems["email"]}>
            {(control) => (
              <Input
                {...control}
                type="email"
                required
                autoFocus
                value={email}
                onChange={(event) => setEmail(event.target.value)}
              />
            )}
          </Field>
          <Field label="Role" hint={roleWords[role]} error={problems["role"]}>
            {(control) => <Select {...control} value={role} options={roleOptions} onValueChange={setRole} />}
          </Field>
          {invite.error !== null && Object.keys(problems).length === 0 && <ErrorPanel error={invite.error} />}
        </form>
      ) : (
        <>
          <SecretOnce label="link" secret={`${location.origin}/invite/${invited.invite_token}`} />
          <p className="mt-2 text-sm text-muted">
            The person who opens it chooses a password and becomes {roleNouns[invited.role]}. It works once.
          </p>
        </>
      )}
    </Dialog>
  );
}
