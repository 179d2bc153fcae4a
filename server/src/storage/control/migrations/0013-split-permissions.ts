import { type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, required } from "./columns.ts";

type Keys = { api_keys: { id: string; permissions: string } };

/**
 * Publishing a trace became a separate permission: keys that may read what they would publish keep it, write-only keys
 * do not. The sharing of a trace now belongs to one environment.
 */
export function splitPermissions(): Migration {
  return {
    up: async (db: Kysely<never>) => {
      await keepSharing(db as unknown as Kysely<Keys>);
      await shareByEnvironment(db);
    },
  };
}

async function keepSharing(db: Kysely<Keys>): Promise<void> {
  const keys = await db.selectFrom("api_keys").select(["id", "permissions"]).execute();
  for (const { id, permissions } of keys) {
    const held = JSON.parse(permissions) as string[];
    if (!held.includes("spans:write") || !held.includes("spans:read") || held.includes("traces:share")) continue;
    const kept = JSON.stringify([...held, "traces:share"]);
    await db.updateTable("api_keys").set({ permissions: kept }).where("id", "=", id).execute();
  }
}

async function shareByEnvironment(db: Kysely<never>): Promise<void> {
  const columns = ["unique_organization_id", "trace_unique_id", "environment", "is_public", "updated_at"] as const;
  await db.schema.alterTable("trace_shares").renameTo("trace_shares_before").execute();
  await db.schema
    .createTable("trace_shares")
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("trace_unique_id", "text", required)
    .addColumn("environment", "text", required)
    .addColumn("is_public", "integer", required)
    .addColumn("updated_at", "text", required)
    .addPrimaryKeyConstraint("trace_shares_of_environment", [
      "unique_organization_id",
      "trace_unique_id",
      "environment",
    ])
    .execute();
  const tables = db as unknown as Kysely<Record<"trace_shares" | "trace_shares_before", ShareColumns>>;
  await tables
    .insertInto("trace_shares")
    .columns(columns)
    .expression(tables.selectFrom("trace_shares_before").select(columns))
    .execute();
  await db.schema.dropTable("trace_shares_before").execute();
}

type ShareColumns = {
  unique_organization_id: string;
  trace_unique_id: string;
  environment: string;
  is_public: number;
  updated_at: string;
};
