import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Counts the scores of an automation, and pages through them, without reading those of the whole organisation. */
export function findScoresOfAutomations(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createIndex("scores_of_automations")
        .on("scores")
        .columns(["unique_organization_id", "automation_id", "is_deleted", "created_at", "id"])
        .execute();
    },
  };
}
