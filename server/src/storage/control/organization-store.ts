import type { Organization } from "../../domain/organization.ts";
import { ServiceError } from "../../domain/errors.ts";
import { withDrawnId } from "./drawn-id.ts";
import { lockOrganization } from "./lock-organization.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { OrganizationRow } from "./schema.ts";

type NewOrganization = Pick<Organization, "unique_organization_id" | "name" | "retention_days" | "created_at">;

export type OrganizationStore = {
  /** Throws `conflict` if the public id is taken. */
  create: (organization: NewOrganization) => Promise<Organization>;
  find: (uniqueOrganizationId: string) => Promise<Organization | undefined>;
  /**
   * Locks the organization until this transaction ends, waiting for others that have the lock: what is read afterwards
   * stays true until then. For data that is read, changed and written back, like members and settings. Call it in a
   * transaction.
   */
  lock: (uniqueOrganizationId: string) => Promise<void>;
  /** Every organization of the instance, oldest first. */
  list: () => Promise<Organization[]>;
  /** Public ids of the organizations that may not write. */
  listBlocked: () => Promise<string[]>;
  /** Changes the given members and returns the result; undefined if there is no such organization. */
  update: (
    uniqueOrganizationId: string,
    change: Partial<Pick<Organization, "name" | "retention_days" | "blocked_at" | "test_uses_prod_providers">>,
  ) => Promise<Organization | undefined>;
};

export function createOrganizationStore(queries: ControlQueries): OrganizationStore {
  const find: OrganizationStore["find"] = async (uniqueOrganizationId) => {
    const row = await queries
      .selectFrom("organizations")
      .selectAll()
      .where("unique_organization_id", "=", uniqueOrganizationId)
      .executeTakeFirst();
    return row && toOrganization(row);
  };

  return {
    find,

    create: async (organization) => {
      const created = await withDrawnId(async (id) => {
        const row = await queries
          .insertInto("organizations")
          .values({ id, ...organization })
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst();
        return row ?? ((await find(organization.unique_organization_id)) === undefined ? undefined : null);
      });
      if (created === undefined || created === null) {
        throw new ServiceError("conflict", `The organization id ${organization.unique_organization_id} is taken.`);
      }
      return toOrganization(created);
    },

    lock: (uniqueOrganizationId) => lockOrganization(queries, uniqueOrganizationId),

    list: async () => {
      const rows = await queries.selectFrom("organizations").selectAll().orderBy("created_at").orderBy("id").execute();
      return rows.map(toOrganization);
    },

    listBlocked: async () => {
      const rows = await queries
        .selectFrom("organizations")
        .select("unique_organization_id")
        .where("blocked_at", "is not", null)
        .execute();
      return rows.map(({ unique_organization_id }) => unique_organization_id);
    },

    update: async (uniqueOrganizationId, { test_uses_prod_providers: shares, ...change }) => {
      const set = { ...change, ...(shares !== undefined && { test_uses_prod_providers: shares ? 1 : 0 }) };
      if (Object.keys(set).length === 0) return find(uniqueOrganizationId);
      const row = await queries
        .updateTable("organizations")
        .set(set)
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .returningAll()
        .executeTakeFirst();
      return row && toOrganization(row);
    },
  };
}

function toOrganization(row: OrganizationRow): Organization {
  return { ...row, test_uses_prod_providers: row.test_uses_prod_providers === 1 };
}
