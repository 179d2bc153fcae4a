import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** When an operator blocked the organization; null while it is not. */
export function blockOrganizations(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("organizations").addColumn("blocked_at", "text").execute();
    },
  };
}
