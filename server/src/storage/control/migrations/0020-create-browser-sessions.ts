import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { required } from "./columns.ts";

/** Sessions of browsers end for good at `ends_at`, however much they are used. One-time codes that sign in. */
export function createBrowserSessions(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("sessions").addColumn("ends_at", "text").execute();
      await db.schema
        .createTable("sign_in_codes")
        .addColumn("code_hash", "text", (column) => column.primaryKey())
        .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
        .addColumn("expires_at", "text", required)
        .execute();
    },
  };
}
