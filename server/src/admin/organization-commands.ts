import { makeOrganization } from "../auth/make-organization.ts";
import { organizationId } from "../config/parse.ts";
import { ServiceError } from "../domain/errors.ts";
import type { Organization } from "../domain/organization.ts";
import { adminLimits } from "./limits.ts";
import { domainLimits } from "../domain/limits.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import { UsageError, type AdminContext, type Command, type Option } from "./command.ts";
import { noteOperator } from "./note-operator.ts";

export const organizationOption: Option = { value: "ID", description: "the organization's public id", required: true };

const noSuch = (id: string) => new ServiceError("not_found", `There is no organization ${id}.`);

/** Throws `not_found`. */
export async function findOrganization(organizations: OrganizationStore, id: string): Promise<Organization> {
  const organization = await organizations.find(id);
  if (organization === undefined) throw noSuch(id);
  return organization;
}

/** The one that is named, else the only one there is. Throws `not_found`. */
export async function findOnlyOrganization(
  organizations: OrganizationStore,
  id: string | undefined,
): Promise<Organization> {
  if (id !== undefined) return findOrganization(organizations, id);
  const [only, another] = await organizations.list();
  if (only === undefined || another !== undefined) throw new UsageError("--organization says which of several");
  return only;
}

async function change(
  context: AdminContext,
  { id, action, fields }: { id: string; action: string; fields: Parameters<OrganizationStore["update"]>[1] },
): Promise<Organization> {
  const organization = await context.stores.organizations.update(id, fields);
  if (organization === undefined) throw noSuch(id);
  await noteOperator(context, { organization: id, action, target: id, changes: fields });
  return organization;
}

export const organizationCommands: Command[] = [
  {
    name: "organizations create",
    summary: "make an organization with a key for each environment, shown this once",
    options: {
      name: { value: "NAME", description: "how people call it", required: true },
      id: { value: "ID", description: "its public id; made up by default" },
    },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const request = {
        name: options.text("name"),
        unique_organization_id: options.optional("id") && options.read("id", organizationId),
        nowMs: nowMs(),
      };
      const { organization, keys } = await stores.transaction((transaction) => makeOrganization(transaction, request));
      const id = organization.unique_organization_id;
      await noteOperator(context, { organization: id, action: "organizations create", target: id });
      return { ...organization, prod_key: keys.prod, test_key: keys.test };
    },
  },
  {
    name: "organizations list",
    summary: "list all organizations",
    options: {},
    run: ({ stores }) => stores.organizations.list(),
  },
  {
    name: "organizations block",
    summary: `keep an organization from writing; running servers apply it within ${adminLimits.blockedOrganizationsEveryMs / 1000} seconds`,
    options: { organization: organizationOption },
    run: (context, options) =>
      change(context, {
        id: options.text("organization"),
        action: "organizations block",
        fields: { blocked_at: new Date(context.nowMs()).toISOString() },
      }),
  },
  {
    name: "organizations unblock",
    summary: "let a blocked organization write again",
    options: { organization: organizationOption },
    run: (context, options) =>
      change(context, {
        id: options.text("organization"),
        action: "organizations unblock",
        fields: { blocked_at: null },
      }),
  },
  {
    name: "retention set",
    summary: "say how long an organization's spans are kept",
    options: {
      organization: organizationOption,
      days: { value: "DAYS", description: "0 for ever, or `default` for the instance's setting", required: true },
    },
    run: (context, options) =>
      change(context, {
        id: options.text("organization"),
        action: "retention set",
        fields: { retention_days: days(options.text("days")) },
      }),
  },
];

function days(text: string): number | null {
  if (text === "default") return null;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= domainLimits.retentionDaysMax) return value;
  throw new UsageError(`--days must be default or a whole number from 0 to ${domainLimits.retentionDaysMax}`);
}
