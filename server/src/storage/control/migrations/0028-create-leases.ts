import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { required } from "./columns.ts";

/** Leases for work that only one node does: the owner, and until when. */
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
