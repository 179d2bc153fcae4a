import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * The size of a budget when it was used up, in billionths of a dollar: a larger budget is reported again when it is
 * used up. For existing rows only the amount spent is known.
 */
export function rememberReachedBudgets(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("customer_spend").addColumn("reached_period_budget", "bigint").execute();
      await db.schema.alterTable("customer_spend").addColumn("reached_total_budget", "bigint").execute();
      await sql`update customer_spend set reached_period_budget = period_spent where reached_period <> ''`.execute(db);
      await sql`update customer_spend set reached_total_budget = total_spent where reached_total = 1`.execute(db);
      await db.schema.alterTable("customer_spend").dropColumn("reached_total").execute();
    },
  };
}
