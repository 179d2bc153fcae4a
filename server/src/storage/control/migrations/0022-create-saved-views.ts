import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, required } from "./columns.ts";

/** Searches of screens that an organization saves under a name. */
export function createSavedViews(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("saved_views")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("unique_organization_id", "text", belongsToOrganization)
        .addColumn("screen", "text", required)
        .addColumn("name", "text", required)
        .addColumn("search", "text", required)
        .addColumn("created_at", "text", required)
        .addColumn("updated_at", "text", required)
        .execute();
      await db.schema
        .createIndex("saved_views_by_name")
        .unique()
        .on("saved_views")
        .columns(["unique_organization_id", "screen", "name"])
        .execute();
    },
  };
}
