import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What rules have in common that are measured by one query. Rules from before are measured alone until they are changed. */
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
