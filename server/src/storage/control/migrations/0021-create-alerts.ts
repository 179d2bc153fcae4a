import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, countingId, required, type ControlDialect } from "./columns.ts";

/** Alert rules, the states of their groups, and what changed. Their channels are webhooks that belong to a rule. */
export function createAlerts(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createRules(db);
      await createHistory(db, dialect);
      await db.schema
        .alterTable("webhooks")
        .addColumn("channel", "text", (column) => column.notNull().defaultTo("webhook"))
        .execute();
      await db.schema.alterTable("webhooks").addColumn("alert_id", "text").execute();
      await db.schema.createIndex("webhooks_of_alert").on("webhooks").column("alert_id").execute();
    },
  };
}

async function createRules(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("alerts")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("name", "text", required)
    .addColumn("is_enabled", "integer", required)
    .addColumn("definition", "text", required)
    .addColumn("revision", "integer", required)
    .addColumn("evaluated_until", "text")
    .addColumn("next_evaluation_at", "text", required)
    .addColumn("counts", "text", required)
    .addColumn("last_error", "text")
    .addColumn("last_error_at", "text")
    .addColumn("tested_at", "text")
    .addColumn("created_at", "text", required)
    .addColumn("updated_at", "text", required)
    .execute();
  await db.schema.createIndex("alerts_due").on("alerts").columns(["is_enabled", "next_evaluation_at"]).execute();
  await db.schema.createIndex("alerts_of_organization").on("alerts").column("unique_organization_id").execute();
  // A table of its own, because they are large and lists do not show them.
  await db.schema
    .createTable("alert_statuses")
    .addColumn("alert_id", "text", (column) => column.primaryKey().references("alerts.id").onDelete("cascade"))
    .addColumn("definition", "text", required)
    .addColumn("window_end", "text", required)
    .addColumn("statuses", "text", required)
    .execute();
}

async function createHistory(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("alert_history")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("alert_id", "text", (column) => column.notNull().references("alerts.id").onDelete("cascade"))
    .addColumn("unique_organization_id", "text", required)
    .addColumn("environment", "text", required)
    .addColumn("customer_identifier", "text")
    .addColumn("event_id", "text")
    .addColumn("entry", "text", required)
    .addColumn("created_at", "text", required)
    .execute();
  await db.schema.createIndex("alert_history_of_alert").on("alert_history").columns(["alert_id", "id"]).execute();
  await db.schema.createIndex("alert_history_by_time").on("alert_history").column("created_at").execute();
}
