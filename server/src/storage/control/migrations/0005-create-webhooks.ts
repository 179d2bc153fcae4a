import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, countingId, required, type ControlDialect } from "./columns.ts";

export function createWebhooks(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createWebhookTable(db, dialect);
      await createDeliveries(db, dialect);
      await createTraceWatches(db, dialect);
    },
  };
}

async function createWebhookTable(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("webhooks")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text")
    .addColumn("organization_key", "text")
    .addColumn("name", "text", required)
    .addColumn("url", "text", required)
    .addColumn("event_type", "text", required)
    .addColumn("active", "integer", required)
    .addColumn("secret", "text", required)
    .addColumn("previous_secret", "text")
    .addColumn("previous_secret_until", "text")
    .addColumn("failing_since", "text")
    .addColumn("disabled_at", "text")
    .addColumn("disabled_reason", "text")
    .addColumn("skipped_events", "integer", required)
    .addColumn("created_at", "text", required)
    .addColumn("updated_at", "text", required)
    .execute();
  await db.schema
    .createIndex("webhooks_of_organization")
    .on("webhooks")
    .columns(["unique_organization_id", "id"])
    .execute();
}

async function createDeliveries(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("webhook_deliveries")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("webhook_id", "integer", (column) => column.notNull().references("webhooks.id").onDelete("cascade"))
    .addColumn("unique_organization_id", "text", required)
    .addColumn("environment", "text", required)
    .addColumn("event_id", "text", required)
    .addColumn("event_type", "text", required)
    .addColumn("bytes", "integer", required)
    .addColumn("status", "text", required)
    .addColumn("attempts", "integer", required)
    .addColumn("next_attempt_at", "text")
    .addColumn("expires_at", "text", required)
    .addColumn("created_at", "text", required)
    .addColumn("last_attempt_at", "text")
    .addColumn("response_status", "integer")
    .addColumn("response_body", "text")
    .addColumn("error", "text")
    .addUniqueConstraint("webhook_deliveries_event", ["webhook_id", "event_id"])
    .execute();
  // A table of its own, so that claims, outcomes and the log do not touch payloads, which are most of the bytes.
  await db.schema
    .createTable("webhook_payloads")
    .addColumn("delivery_id", "integer", (column) =>
      column.primaryKey().references("webhook_deliveries.id").onDelete("cascade"),
    )
    .addColumn("payload", "text", required)
    .execute();
  // The queue: the index contains only pending rows, so it stays small however long the log gets.
  await db.schema
    .createIndex("webhook_deliveries_due")
    .on("webhook_deliveries")
    .columns(["webhook_id", "next_attempt_at"])
    .where(sql.ref("next_attempt_at"), "is not", null)
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_of_webhook")
    .on("webhook_deliveries")
    .columns(["webhook_id", "id"])
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_finished")
    .on("webhook_deliveries")
    .column("created_at")
    .where(sql.ref("next_attempt_at"), "is", null)
    .execute();
}

async function createTraceWatches(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("trace_watches")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("trace_unique_id", "text", required)
    .addColumn("last_received", "text", required)
    .addColumn("due_at", "text", required)
    .addUniqueConstraint("trace_watches_trace", ["unique_organization_id", "environment", "trace_unique_id"])
    .execute();
  await db.schema.createIndex("trace_watches_due").on("trace_watches").column("due_at").execute();
}
