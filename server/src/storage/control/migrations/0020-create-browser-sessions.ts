import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { required } from "./columns.ts";

/** Browser sessions end at `ends_at` at the latest, however much they are used. Also one-time sign-in codes. */
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
