import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Index for the customers that have a budget or a rate limit: every node reads them once a minute, and they are few
 * among many.
 */
export function findCustomersWithBounds(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await sql`create index if not exists customers_with_bounds on customers (unique_organization_id)
        where period_budget is not null or total_budget is not null or rate_limit is not null`.execute(db);
    },
  };
}
