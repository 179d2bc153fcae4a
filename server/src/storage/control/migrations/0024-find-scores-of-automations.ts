import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Index for counting and paging the scores of an automation without reading those of the whole organization. */
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
