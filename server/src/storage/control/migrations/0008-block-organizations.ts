import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** When an operator blocked the organization; null if it is not blocked. */
export function blockOrganizations(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("organizations").addColumn("blocked_at", "text").execute();
    },
  };
}
