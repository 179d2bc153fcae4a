import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Adds a record of whether a node of an earlier version can use these tables: see runs-from.ts. */
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
