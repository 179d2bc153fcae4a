import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, required } from "./columns.ts";

export function createCustomers(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createProfiles(db);
      await createSpend(db);
      await createReservations(db);
    },
  };
}

const customerKey = ["unique_organization_id", "environment", "customer_identifier"] as const;

async function createProfiles(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("customers")
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("customer_identifier", "text", required)
    .addColumn("email", "text")
    .addColumn("name", "text")
    .addColumn("metadata", "text", required)
    .addColumn("group_identifier", "text")
    .addColumn("period_budget", "double precision")
    .addColumn("budget_duration", "text")
    .addColumn("period_start", "text")
    .addColumn("period_end", "text")
    .addColumn("total_budget", "double precision")
    .addColumn("markup_percentage", "double precision", required)
    .addColumn("rate_limit", "integer")
    .addColumn("sent", "text", required)
    .addColumn("first_seen", "text", required)
    .addColumn("created_at", "text", required)
    .addColumn("updated_at", "text", required)
    .addColumn("is_indexed", "integer", required)
    .addPrimaryKeyConstraint("customers_key", [...customerKey])
    .execute();
  // The few rows that the span store does not have yet.
  await db.schema
    .createIndex("customers_to_index")
    .on("customers")
    .column("updated_at")
    .where(sql.ref("is_indexed"), "=", sql.lit(0))
    .execute();
}

/** One row per customer, so that one conditional update admits a call. In billionths of a dollar. */
async function createSpend(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("customer_spend")
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("customer_identifier", "text", required)
    .addColumn("period_start", "text", required)
    .addColumn("period_spent", "bigint", required)
    .addColumn("total_spent", "bigint", required)
    .addColumn("reserved", "bigint", required)
    .addColumn("reached_period", "text", required)
    .addColumn("reached_total", "integer", required)
    .addPrimaryKeyConstraint("customer_spend_key", [...customerKey])
    .execute();
}

async function createReservations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("customer_reservations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("customer_identifier", "text", required)
    .addColumn("node_id", "text", required)
    .addColumn("amount", "bigint", required)
    .addColumn("expires_at", "text", required)
    .execute();
  await db.schema
    .createIndex("customer_reservations_of_customer")
    .on("customer_reservations")
    .columns([...customerKey])
    .execute();
  await db.schema.createIndex("customer_reservations_of_node").on("customer_reservations").column("node_id").execute();
  await db.schema
    .createIndex("customer_reservations_by_expiry")
    .on("customer_reservations")
    .column("expires_at")
    .execute();
}
