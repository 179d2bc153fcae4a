import { useState, type ReactNode } from "react";
import { useCan, useMe } from "../../api/use-me.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Select } from "../../ui/select.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Time } from "../../ui/value.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { Pages } from "../../ui/pages.tsx";
import { pagesOf, useChangeRole, useMembers, useRemoveMember, type Member } from "./queries.ts";
import { roleOptions } from "./roles.ts";

export function MembersPanel(): ReactNode {
  const [page, setPage] = useState(1);
  const [isInviting, setInviting] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  const members = useMembers(page);
  const canManage = useCan("members:manage");
  return (
    <Panel
      title="Members"
      actions={
        canManage && (
          <Button size="sm" icon="plus" onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      {members.error !== null && <ErrorPanel error={members.error} onRetry={() => void members.refetch()} />}
      {members.isPending && <SkeletonRows rows={3} />}
      {members.data !== undefined && (
        <Table
          label="Members"
          head={
            <>
              <HeadCell>E-mail address</HeadCell>
              <HeadCell>Role</HeadCell>
              <HeadCell className="max-sm:hidden">Since</HeadCell>
              <HeadCell>
                <span className="sr-only">Actions</span>
              </HeadCell>
            </>
          }
        >
          {members.data.results.map((member) => (
            <Row key={member.id} member={member} canManage={canManage} onRemove={() => setLeaving(member)} />
          ))}
        </Table>
      )}
      <Pages page={page} pages={pagesOf(members.data?.count ?? 0)} onPage={setPage} />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {leaving !== undefined && <RemoveDialog member={leaving} onClose={() => setLeaving(undefined)} />}
    </Panel>
  );
}

function Row({ member, canManage, onRemove }: { member: Member; canManage: boolean; onRemove: () => void }): ReactNode {
  const me = useMe().data;
  const toast = useToast();
  const changeRole = useChangeRole();
  const isOwn = me?.id === member.id;
  const isInvited = member.status === "invited";
  return (
    <tr>
      <Cell className="max-sm:max-w-40 max-sm:py-1 max-sm:whitespace-normal">
        <span className="break-words">{member.email}</span> {isOwn && <Badge>you</Badge>}{" "}
        {isInvited && <Badge tone="info">invited</Badge>}{" "}
        {member.is_instance_admin && <Badge tone="accent">instance admin</Badge>}
      </Cell>
      <Cell>
        {canManage && !isOwn && !isInvited ? (
          <Select
            aria-label={`Role of ${member.email}`}
            value={member.role}
            options={roleOptions}
            disabled={changeRole.isPending}
            onValueChange={(role) =>
              changeRole.mutate(
                { id: member.id, role },
                {
                  onSuccess: () => toast.done("Role changed", `${member.email} is now ${role}.`),
                  onError: (error) => toast.failed("Could not change the role", error),
                },
              )
            }
          />
        ) : (
          member.role
        )}
      </Cell>
      <Cell className="max-sm:hidden">
        <Time at={member.created_at} isDay />
        {member.expires_at !== null && (
          <span className="text-faint">
            , ends <Time at={member.expires_at} isAgo />
          </span>
        )}
      </Cell>
      <Cell className="text-right">
        {canManage && !isOwn && (
          <IconButton size="sm" icon="trash" label={`Remove ${member.email}`} onClick={onRemove} />
        )}
      </Cell>
    </tr>
  );
}

function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }): ReactNode {
  const remove = useRemoveMember();
  const isInvited = member.status === "invited";
  return (
    <ConfirmDialog
      open
      title={isInvited ? "End the invitation?" : "Remove this member?"}
      action={isInvited ? "End invitation" : "Remove member"}
      isBusy={remove.isPending}
      onOpenChange={onClose}
      onConfirm={() => remove.mutate(member.id, { onSuccess: onClose })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      {isInvited
        ? `The link that ${member.email} got stops working.`
        : `${member.email} is signed out everywhere. What they made stays.`}
    </ConfirmDialog>
  );
}
