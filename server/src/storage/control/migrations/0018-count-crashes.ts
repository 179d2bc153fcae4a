import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** How often a node ended during an evaluation; the evaluation fails after a few. */
export function countCrashes(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .alterTable("evaluation_runs")
        .addColumn("crashes", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  };
}
