import type { Organization } from "../../domain/organization.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { ControlQueries } from "./open-control-database.ts";

type NewOrganization = Pick<Organization, "unique_organization_id" | "name" | "retention_days" | "created_at">;

export type OrganizationStore = {
  /** Throws `conflict` when the public id is taken. */
  create: (organization: NewOrganization) => Promise<Organization>;
  find: (uniqueOrganizationId: string) => Promise<Organization | undefined>;
  /** Every organisation of the instance, oldest first. */
  list: () => Promise<Organization[]>;
  /** Public ids of those that may not write. */
  listBlocked: () => Promise<string[]>;
  /** Changes what is given and answers the result; undefined when there is no such organisation. */
  update: (
    uniqueOrganizationId: string,
    change: Partial<Pick<Organization, "name" | "retention_days" | "blocked_at">>,
  ) => Promise<Organization | undefined>;
};

export function createOrganizationStore(queries: ControlQueries): OrganizationStore {
  const find: OrganizationStore["find"] = (uniqueOrganizationId) =>
    queries
      .selectFrom("organizations")
      .selectAll()
      .where("unique_organization_id", "=", uniqueOrganizationId)
      .executeTakeFirst();

  return {
    find,

    create: async (organization) => {
      const created = await queries
        .insertInto("organizations")
        .values(organization)
        .onConflict((conflict) => conflict.column("unique_organization_id").doNothing())
        .returningAll()
        .executeTakeFirst();
      if (created === undefined) {
        throw new ServiceError("conflict", `The organization id ${organization.unique_organization_id} is taken.`);
      }
      return created;
    },

    list: () => queries.selectFrom("organizations").selectAll().orderBy("id").execute(),

    listBlocked: async () => {
      const rows = await queries
        .selectFrom("organizations")
        .select("unique_organization_id")
        .where("blocked_at", "is not", null)
        .execute();
      return rows.map(({ unique_organization_id }) => unique_organization_id);
    },

    update: async (uniqueOrganizationId, change) => {
      if (Object.keys(change).length === 0) return find(uniqueOrganizationId);
      return queries
        .updateTable("organizations")
        .set(change)
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .returningAll()
        .executeTakeFirst();
    },
  };
}
