import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, required } from "./columns.ts";

/** Invitations, sessions and the audit log; when keys were used, and how often they may be used. */
export function createPeople(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createSessions(db);
      await createInvitations(db);
      await createAuditLog(db);
      await db.schema.alterTable("api_keys").addColumn("last_used_at", "text").execute();
      await db.schema.alterTable("api_keys").addColumn("max_usage", "integer").execute();
      await db.schema
        .alterTable("api_keys")
        .addColumn("usage_count", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema
        .alterTable("organizations")
        .addColumn("test_uses_prod_providers", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  };
}

async function createSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("sessions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("user_id", "text", (column) => column.notNull().references("users.id").onDelete("cascade"))
    .addColumn("sequence", "integer", required)
    .addColumn("created_at", "text", required)
    .addColumn("expires_at", "text", required)
    .execute();
  await db.schema.createIndex("sessions_of_user").on("sessions").columns(["user_id", "created_at"]).execute();
  await db.schema.createIndex("sessions_by_expiry").on("sessions").column("expires_at").execute();
}

async function createInvitations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("invitations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("email", "text", required)
    .addColumn("role", "text", required)
    .addColumn("token_hash", "text", (column) => column.notNull().unique())
    .addColumn("created_at", "text", required)
    .addColumn("expires_at", "text", required)
    .addUniqueConstraint("invitations_of_address", ["unique_organization_id", "email"])
    .execute();
}

async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("audit_log")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("created_at", "text", required)
    .addColumn("actor_type", "text", required)
    .addColumn("actor_id", "text")
    .addColumn("actor_name", "text", required)
    .addColumn("action", "text", required)
    .addColumn("target", "text")
    .addColumn("environment", "text")
    .addColumn("changes", "text", required)
    .addColumn("ip", "text")
    .addColumn("request_id", "text")
    .execute();
  await db.schema
    .createIndex("audit_log_of_organization")
    .on("audit_log")
    .columns(["unique_organization_id", "created_at", "id"])
    .execute();
}
