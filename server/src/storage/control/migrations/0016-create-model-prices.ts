import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { countingId, required, type ControlDialect } from "./columns.ts";

/** Prices of organizations and of the instance, their revisions, and price tables loaded from files. */
export function createModelPrices(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("model_prices")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("owner", "text", required)
        .addColumn("model", "text", required)
        .addColumn("model_key", "text", required)
        .addColumn("provider", "text", required)
        .addColumn("rates", "text", required)
        .addColumn("valid_from", "text")
        .addColumn("valid_to", "text")
        .addColumn("revision", "integer", required)
        .addColumn("created_at", "text", required)
        .addColumn("updated_at", "text", required)
        .execute();
      await db.schema
        .createIndex("model_prices_of_model")
        .on("model_prices")
        .columns(["owner", "model_key", "provider"])
        .execute();
      await db.schema
        .createIndex("model_prices_by_revision")
        .on("model_prices")
        .columns(["owner", "revision"])
        .execute();
      await db.schema
        .createTable("model_price_revisions")
        .addColumn("owner", "text", (column) => column.primaryKey())
        .addColumn("revision", "integer", required)
        .addColumn("removals", "integer", required)
        .execute();
      await db.schema
        .createTable("price_tables")
        .addColumn("id", "integer", (column) => countingId(column, dialect))
        .addColumn("name", "text", required)
        .addColumn("format", "text", required)
        .addColumn("models", "integer", required)
        .addColumn("content", "text", required)
        .addColumn("loaded_at", "text", required)
        .execute();
    },
  };
}
