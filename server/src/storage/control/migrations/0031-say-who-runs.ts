import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Adds what tells a node of an earlier version whether it can use these tables: see runs-from.ts. */
export function sayWhoRuns(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("schema_support")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("runs_from", "text", (column) => column.notNull())
        .execute();
    },
  };
}
