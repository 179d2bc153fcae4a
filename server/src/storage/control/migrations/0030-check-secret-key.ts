import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Adds a check value that identifies the secret key of this store. Null until a node of this version has started. */
export function checkSecretKey(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("instance").addColumn("secret_check", "text").execute();
    },
  };
}
