import { makeOrganization } from "../auth/make-organization.ts";
import { organizationId } from "../config/parse.ts";
import { ServiceError } from "../domain/errors.ts";
import type { Organization } from "../domain/organization.ts";
import { limits } from "../limits.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import { UsageError, type Command, type Option } from "./command.ts";

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
  organizations: OrganizationStore,
  id: string,
  fields: Parameters<OrganizationStore["update"]>[1],
): Promise<Organization> {
  const organization = await organizations.update(id, fields);
  if (organization === undefined) throw noSuch(id);
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
    run: async ({ stores, nowMs }, options) => {
      const request = {
        name: options.text("name"),
        unique_organization_id: options.optional("id") && options.read("id", organizationId),
        nowMs: nowMs(),
      };
      const { organization, keys } = await stores.transaction((transaction) => makeOrganization(transaction, request));
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
    summary: `keep an organization from writing; running servers apply it within ${limits.blockedOrganizationsEveryMs / 1000} seconds`,
    options: { organization: organizationOption },
    run: ({ stores, nowMs }, options) =>
      change(stores.organizations, options.text("organization"), { blocked_at: new Date(nowMs()).toISOString() }),
  },
  {
    name: "organizations unblock",
    summary: "let a blocked organization write again",
    options: { organization: organizationOption },
    run: ({ stores }, options) => change(stores.organizations, options.text("organization"), { blocked_at: null }),
  },
  {
    name: "retention set",
    summary: "say how long an organization's spans are kept",
    options: {
      organization: organizationOption,
      days: { value: "DAYS", description: "0 for ever, or `default` for the instance's setting", required: true },
    },
    run: ({ stores }, options) =>
      change(stores.organizations, options.text("organization"), { retention_days: days(options.text("days")) }),
  },
];

function days(text: string): number | null {
  if (text === "default") return null;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= limits.retentionDaysMax) return value;
  throw new UsageError(`--days must be default or a whole number from 0 to ${limits.retentionDaysMax}`);
}
