import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, required } from "./columns.ts";

export function createProviderSettings(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("provider_settings")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("unique_organization_id", "text", belongsToOrganization)
        .addColumn("provider", "text", required)
        .addColumn("name", "text", required)
        .addColumn("environment", "text")
        .addColumn("base_url", "text")
        .addColumn("fields", "text", required)
        .addColumn("available_models", "text")
        .addColumn("exclude_models", "text", required)
        .addColumn("weight", "text", required)
        .addColumn("is_enabled", "integer", required)
        .addColumn("secret", "text")
        .addColumn("secret_tail", "text", required)
        .addColumn("created_at", "text", required)
        .addColumn("updated_at", "text", required)
        .execute();
      await db.schema
        .createIndex("provider_settings_of_organization")
        .on("provider_settings")
        .columns(["unique_organization_id", "created_at"])
        .execute();
    },
  };
}
