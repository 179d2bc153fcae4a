import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Adds the trace that an event is about, so that deleting the trace deletes the payload. Null for other events and for older rows. */
export function nameTracesOfDeliveries(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema.alterTable("webhook_deliveries").addColumn("trace_unique_id", "text").execute();
      await db.schema
        .createIndex("webhook_deliveries_of_trace")
        .on("webhook_deliveries")
        .columns(["unique_organization_id", "environment", "trace_unique_id"])
        .where(sql.ref("trace_unique_id"), "is not", null)
        .execute();
    },
  };
}
