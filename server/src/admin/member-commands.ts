import { changeRole, inviteMember, removeMember } from "../auth/members.ts";
import { email as parseEmail } from "../config/parse.ts";
import { ServiceError } from "../domain/errors.ts";
import { roles } from "../domain/permissions.ts";
import type { AuditEntry } from "../domain/audit.ts";
import { canonicalEmail } from "../domain/user.ts";
import { domainLimits } from "../domain/limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { Command, Option } from "./command.ts";
import { noteOperator } from "./note-operator.ts";
import { findOrganization, organizationOption } from "./organization-commands.ts";

const emailOption: Option = { value: "EMAIL", description: "the person's e-mail address", required: true };
const roleOption: Option = { value: roles.join("|"), description: "what the person may do", required: true };

export const memberCommands: Command[] = [
  {
    name: "members list",
    summary: "list an organization's members, and who is invited",
    options: { organization: organizationOption },
    run: async ({ stores, nowMs }, options) => {
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      const members = await stores.users.list(unique_organization_id);
      const invited = await stores.invitations.list(unique_organization_id, new Date(nowMs()).toISOString());
      return [
        ...members.map(({ id, email, role, created_at }) => ({ id, email, role, status: "active", created_at })),
        ...invited.map(({ id, email, role, created_at }) => ({ id, email, role, status: "invited", created_at })),
      ];
    },
  },
  {
    name: "members invite",
    summary: "create a one-time link by which a person becomes a member; it is shown only once",
    options: { organization: organizationOption, email: emailOption, role: { ...roleOption, required: false } },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      const role = options.oneOf("role", roles, "member");
      const email = options.read("email", parseEmail);
      const request = { unique_organization_id, email, role, nowMs: nowMs() };
      const { invitation, token } = await inviteMember(stores, request);
      const done = { organization: unique_organization_id, action: "members invite", target: invitation.id };
      await noteOperator(context, { ...done, changes: { email, role } });
      const { id, expires_at } = invitation;
      return { id, email, role, expires_at, invite_path: `/invite/${token}`, invite_token: token };
    },
  },
  {
    name: "members role",
    summary: "give a member another role, and revoke the member's temporary keys",
    options: { organization: organizationOption, email: emailOption, role: roleOption },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const member = await findMember(stores, options.text("organization"), options.text("email"), nowMs());
      const role = options.oneOf("role", roles);
      const { unique_organization_id, id, email } = member;
      await changeRole(stores, { unique_organization_id, id, role, nowMs: nowMs() });
      const done = { organization: unique_organization_id, action: "members role", target: id };
      await noteOperator(context, { ...done, changes: { role } });
      return { id, email, role };
    },
  },
  {
    name: "members remove",
    summary: "remove a member, and revoke the member's sessions and temporary keys; or withdraw an invitation",
    options: { organization: organizationOption, email: emailOption },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const member = await findMember(stores, options.text("organization"), options.text("email"), nowMs());
      const { unique_organization_id, id, email } = member;
      await removeMember(stores, unique_organization_id, id);
      await noteOperator(context, { organization: unique_organization_id, action: "members remove", target: id });
      return { id, email, removed: true };
    },
  },
  {
    name: "audit list",
    summary: "show who did what in an organization, newest first",
    options: {
      organization: organizationOption,
      actor: { value: "NAME", description: "an e-mail address, the name or id of a key" },
      action: { value: "NAME", description: "an operation of the API, or a command" },
      target: { value: "ID", description: "what was acted on" },
      page: { value: "NUMBER", description: `of ${domainLimits.pageSizeDefault} entries each; 1 by default` },
    },
    run: async ({ stores }, options) => {
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      const filter = {
        actor: options.optional("actor"),
        action: options.optional("action"),
        target: options.optional("target"),
      };
      const page = Math.max(1, Number.parseInt(options.optional("page") ?? "1", 10) || 1);
      const paging = { page, pageSize: domainLimits.pageSizeDefault };
      const { entries } = await stores.auditLog.list(unique_organization_id, filter, paging);
      return entries.map(shown);
    },
  },
];

function shown({ created_at, actor_name, action, target, environment, changes, ip, request_id }: AuditEntry) {
  return { created_at, actor_name, action, target, environment, changes: JSON.stringify(changes), ip, request_id };
}

async function findMember(
  stores: Pick<ControlStores, "organizations" | "users" | "invitations">,
  organization: string,
  address: string,
  nowMs: number,
): Promise<{ unique_organization_id: string; id: string; email: string }> {
  const { unique_organization_id } = await findOrganization(stores.organizations, organization);
  const email = canonicalEmail(address);
  const user = await stores.users.findByEmail(email);
  if (user?.unique_organization_id === unique_organization_id) return user;
  const invited = await stores.invitations.list(unique_organization_id, new Date(nowMs).toISOString());
  const invitation = invited.find((each) => each.email === email);
  if (invitation === undefined) throw new ServiceError("not_found", `${email} is not a member of the organization.`);
  return invitation;
}
