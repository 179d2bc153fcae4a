import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, countingId, required, type ControlDialect } from "./columns.ts";

export function createAccounts(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createInstance(db);
      await createOrganizations(db, dialect);
      await createUsers(db);
      await createApiKeys(db);
    },
  };
}

async function createInstance(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("instance")
    .addColumn("id", "integer", (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn("initialized_at", "text", required)
    .execute();
}

async function createOrganizations(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("organizations")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("unique_organization_id", "text", (column) => column.notNull().unique())
    .addColumn("name", "text", required)
    .addColumn("retention_days", "integer")
    .addColumn("created_at", "text", required)
    .execute();
}

async function createUsers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("users")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("email", "text", (column) => column.notNull().unique())
    .addColumn("password_hash", "text", required)
    .addColumn("role", "text", required)
    .addColumn("is_instance_admin", "integer", required)
    .addColumn("token_version", "integer", required)
    .addColumn("created_at", "text", required)
    .execute();
  await db.schema.createIndex("users_of_organization").on("users").column("unique_organization_id").execute();
}

async function createApiKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("api_keys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("name", "text", required)
    .addColumn("environment", "text", required)
    .addColumn("hash", "text", (column) => column.notNull().unique())
    .addColumn("prefix", "text", required)
    .addColumn("permissions", "text", required)
    .addColumn("user_id", "text", (column) => column.references("users.id").onDelete("cascade"))
    .addColumn("created_at", "text", required)
    .addColumn("expires_at", "text")
    .addColumn("revoked_at", "text")
    .execute();
  await db.schema
    .createIndex("api_keys_of_organization")
    .on("api_keys")
    .columns(["unique_organization_id", "created_at"])
    .execute();
  await db.schema.createIndex("api_keys_of_user").on("api_keys").column("user_id").execute();
  await db.schema.createIndex("api_keys_by_expiry").on("api_keys").column("expires_at").execute();
}
