import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, countingId, required, type ControlDialect } from "./columns.ts";

export function createTraceRecords(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createTraceShares(db);
      await createTraceDeletions(db, dialect);
    },
  };
}

async function createTraceShares(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("trace_shares")
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("trace_unique_id", "text", required)
    .addColumn("environment", "text", required)
    .addColumn("is_public", "integer", required)
    .addColumn("updated_at", "text", required)
    .addPrimaryKeyConstraint("trace_shares_key", ["unique_organization_id", "trace_unique_id"])
    .execute();
}

async function createTraceDeletions(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("trace_deletions")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("trace_unique_id", "text", required)
    .addColumn("from_ns", "text", required)
    .addColumn("to_ns", "text", required)
    .addColumn("deleted_at", "text", required)
    .execute();
  await db.schema.createIndex("trace_deletions_by_time").on("trace_deletions").columns(["deleted_at", "id"]).execute();
}
