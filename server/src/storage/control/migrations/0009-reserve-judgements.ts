import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { required } from "./columns.ts";

/** Reservations of an automation's day for running judgements, in micro-dollars: a row per claim of a run. */
export function reserveJudgements(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable("judgement_reservations")
        .addColumn("run_id", "integer", (column) =>
          column.notNull().references("evaluation_runs.id").onDelete("cascade"),
        )
        .addColumn("attempt", "integer", required)
        .addColumn("automation_id", "text", required)
        .addColumn("day", "text", required)
        .addColumn("amount_micro_usd", "bigint", required)
        .addPrimaryKeyConstraint("judgement_reservations_key", ["run_id", "attempt"])
        .execute();
      await db.schema
        .createIndex("judgement_reservations_of_day")
        .on("judgement_reservations")
        .columns(["automation_id", "day"])
        .execute();
    },
  };
}
