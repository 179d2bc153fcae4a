import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { required } from "./columns.ts";

/** What one node of all does, and until when it is that one. */
export function createLeases(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("leases")
        .ifNotExists()
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("owner", "text", required)
        .addColumn("expires_at", "text", required)
        .execute();
    },
  };
}
