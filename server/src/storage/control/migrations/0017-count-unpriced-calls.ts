import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What a call without a known price counts as in a customer's budgets: `refuse`, USD as text, or null for nothing. */
export function countUnpricedCalls(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("customers").addColumn("unpriced_calls", "text").execute();
    },
  };
}
