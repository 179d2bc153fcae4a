import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** The key shared by rules that one query measures. Existing rules are measured separately until they are changed. */
export function measureAlertsTogether(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .alterTable("alerts")
        .addColumn("measured_with", "text", (column) => column.notNull().defaultTo(""))
        .execute();
      await sql`update alerts set measured_with = id`.execute(db);
      await db.schema.createIndex("alerts_measured_with").on("alerts").column("measured_with").execute();
    },
  };
}
