import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { belongsToOrganization, countingId, required, type ControlDialect } from "./columns.ts";

export function createEvaluation(dialect: ControlDialect): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await createConditions(db);
      await createEvaluators(db);
      await createAutomations(db);
      await createRuns(db, dialect);
      await createScores(db);
    },
  };
}

async function createConditions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("conditions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("condition_slug", "text", required)
    .addColumn("name", "text", required)
    .addColumn("condition_type", "text", required)
    .addColumn("description", "text", required)
    .addColumn("condition_policy", "text", required)
    .addColumn("created_at", "text", required)
    .addColumn("updated_at", "text", required)
    .addUniqueConstraint("conditions_slug", ["unique_organization_id", "condition_slug"])
    .execute();
}

async function createEvaluators(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluators")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("evaluator_slug", "text", required)
    .addColumn("definition", "text", required)
    .addColumn("starred", "integer", required)
    .addColumn("created_at", "text", required)
    .addColumn("updated_at", "text", required)
    .addUniqueConstraint("evaluators_slug", ["unique_organization_id", "evaluator_slug"])
    .execute();
  await db.schema
    .createTable("evaluator_versions")
    .addColumn("version_id", "text", (column) => column.primaryKey())
    .addColumn("evaluator_id", "text", (column) => column.notNull().references("evaluators.id").onDelete("cascade"))
    .addColumn("version", "integer", required)
    .addColumn("version_description", "text", required)
    .addColumn("definition", "text", required)
    .addColumn("created_at", "text", required)
    .addUniqueConstraint("evaluator_versions_number", ["evaluator_id", "version"])
    .execute();
}

async function createAutomations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("automations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("automation_slug", "text", required)
    .addColumn("name", "text", required)
    .addColumn("automation_type", "text", required)
    .addColumn("condition_id", "text", (column) => column.notNull().references("conditions.id"))
    .addColumn("is_enabled", "integer", required)
    .addColumn("configuration", "text", required)
    .addColumn("last_error", "text")
    .addColumn("last_error_at", "text")
    .addColumn("created_at", "text", required)
    .addColumn("updated_at", "text", required)
    .addUniqueConstraint("automations_slug", ["unique_organization_id", "automation_slug"])
    .execute();
  await db.schema.createIndex("automations_by_condition").on("automations").column("condition_id").execute();
  await db.schema
    .createTable("automation_evaluators")
    .addColumn("automation_id", "text", (column) => column.notNull().references("automations.id").onDelete("cascade"))
    .addColumn("evaluator_id", "text", (column) => column.notNull().references("evaluators.id"))
    .addColumn("position", "integer", required)
    .addPrimaryKeyConstraint("automation_evaluators_key", ["automation_id", "evaluator_id"])
    .execute();
  await db.schema
    .createIndex("automation_evaluators_by_evaluator")
    .on("automation_evaluators")
    .column("evaluator_id")
    .execute();
  await db.schema
    .createTable("automation_spend")
    .addColumn("automation_id", "text", (column) => column.notNull().references("automations.id").onDelete("cascade"))
    .addColumn("day", "text", required)
    .addColumn("spent_micro_usd", "bigint", required)
    .addPrimaryKeyConstraint("automation_spend_key", ["automation_id", "day"])
    .execute();
}

/** One row per log, automation and evaluator: the identity of the work, and its queue. */
async function createRuns(db: Kysely<unknown>, dialect: ControlDialect): Promise<void> {
  await db.schema
    .createTable("evaluation_runs")
    .addColumn("id", "integer", (column) => countingId(column, dialect))
    .addColumn("automation_id", "text", (column) => column.notNull().references("automations.id").onDelete("cascade"))
    .addColumn("evaluator_id", "text", (column) => column.notNull().references("evaluators.id").onDelete("cascade"))
    .addColumn("log_id", "text", required)
    .addColumn("unique_organization_id", "text", required)
    .addColumn("environment", "text", required)
    .addColumn("log_timestamp", "text", required)
    .addColumn("state", "text", required)
    .addColumn("attempts", "integer", required)
    .addColumn("due_at", "text", required)
    .addColumn("owner", "text")
    .addColumn("created_at", "text", required)
    .addUniqueConstraint("evaluation_runs_identity", ["log_id", "automation_id", "evaluator_id"])
    .execute();
  await db.schema
    .createIndex("evaluation_runs_due")
    .on("evaluation_runs")
    .columns(["state", "unique_organization_id", "due_at", "id"])
    .execute();
}

async function createScores(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("scores")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("unique_organization_id", "text", belongsToOrganization)
    .addColumn("environment", "text", required)
    .addColumn("log_id", "text", required)
    .addColumn("evaluator_id", "text", required)
    .addColumn("automation_id", "text")
    .addColumn("document", "text", required)
    .addColumn("revision", "text", required)
    .addColumn("is_deleted", "integer", required)
    .addColumn("is_mirrored", "integer", required)
    .addColumn("created_at", "text", required)
    .addUniqueConstraint("scores_identity", ["unique_organization_id", "log_id", "evaluator_id"])
    .execute();
  await db.schema
    .createIndex("scores_by_time")
    .on("scores")
    .columns(["unique_organization_id", "created_at", "id"])
    .execute();
  await db.schema.createIndex("scores_to_mirror").on("scores").columns(["is_mirrored", "revision"]).execute();
}
