import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, required } from "./columns.ts";

/** Deleted customers: permanently by fingerprint, by name only until every node knows. */
export function rememberErasedCustomers(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("customer_erasures")
        .addColumn("unique_organization_id", "text", belongsToOrganization)
        .addColumn("environment", "text", required)
        .addColumn("fingerprint", "text", required)
        .addColumn("customer_identifier", "text")
        .addColumn("erased_at", "text", required)
        .addPrimaryKeyConstraint("customer_erasures_key", ["unique_organization_id", "environment", "fingerprint"])
        .execute();
      await db.schema
        .createIndex("customer_erasures_by_time")
        .on("customer_erasures")
        .columns(["erased_at", "fingerprint"])
        .execute();
    },
  };
}
