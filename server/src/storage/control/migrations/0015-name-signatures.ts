import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { ControlDialect } from "./columns.ts";

/**
 * Existing webhooks keep signing under the product's former names too. New ids that tenants see are random, as a
 * counter would reveal the number of others; existing ids stay.
 */
export function nameSignatures(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .alterTable("webhooks")
        .addColumn("legacy_signatures", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
      await sql`update webhooks set legacy_signatures = 1`.execute(db);
      if (dialect === "sqlite") return;
      for (const table of ["webhooks", "organizations"]) {
        await sql`alter table ${sql.table(table)} alter column id drop identity`.execute(db);
      }
    },
  };
}
