import type { ActiveAutomation, Automation, AutomationConfiguration, AutomationType } from "../../domain/automation.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import { storageLimits } from "../limits.ts";
import { asPolicy } from "./condition-store.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { AutomationRow } from "./schema.ts";

export type NewAutomation = Omit<Automation, "last_error" | "last_error_at">;
export type AutomationChange = Partial<
  Pick<Automation, "name" | "condition_id" | "is_enabled" | "configuration" | "evaluator_ids">
> &
  Pick<Automation, "updated_at">;

/** Call methods that change several tables inside a transaction. */
export type AutomationStore = {
  /** @throws ServiceError `invalid_request` if the slug is taken; `conflict` at as many as `limits.ts` allows */
  create: (automation: NewAutomation) => Promise<Automation>;
  /** Newest first; at most `storageLimits.automationsPerOrganization`. */
  list: (uniqueOrganizationId: string) => Promise<Automation[]>;
  /** By id, else by slug. */
  find: (uniqueOrganizationId: string, idOrSlug: string) => Promise<Automation | undefined>;
  update: (uniqueOrganizationId: string, id: string, change: AutomationChange) => Promise<Automation | undefined>;
  /** Also removes its waiting runs; its scores stay. */
  remove: (uniqueOrganizationId: string, id: string) => Promise<void>;
  /** The enabled automations of all organizations, with the policies of their conditions. */
  listActive: () => Promise<ActiveAutomation[]>;
  noteError: (id: string, message: string, at: string) => Promise<void>;
};

export function createAutomationStore(queries: ControlQueries): AutomationStore {
  const withEvaluators = async (rows: readonly AutomationRow[]): Promise<Automation[]> => {
    const ids = await evaluatorIds(
      queries,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => toAutomation(row, ids.get(row.id) ?? []));
  };
  const select = (uniqueOrganizationId: string) =>
    queries.selectFrom("automations").selectAll().where("unique_organization_id", "=", uniqueOrganizationId);
  const find: AutomationStore["find"] = async (uniqueOrganizationId, idOrSlug) => {
    const rows = await select(uniqueOrganizationId)
      .where((column) => column.or([column("id", "=", idOrSlug), column("automation_slug", "=", idOrSlug)]))
      .execute();
    const row = rows.find(({ id }) => id === idOrSlug) ?? rows[0];
    return row && (await withEvaluators([row]))[0];
  };

  return {
    ...runnerMethods(queries),
    find,

    create: async ({ evaluator_ids, ...automation }) => {
      await makeRoom(queries, automation.unique_organization_id);
      const created = await queries
        .insertInto("automations")
        .values({
          ...automation,
          is_enabled: automation.is_enabled ? 1 : 0,
          configuration: JSON.stringify(automation.configuration),
        })
        .onConflict((conflict) => conflict.columns(["unique_organization_id", "automation_slug"]).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (created === undefined) {
        const message = "An automation with this slug exists already.";
        throw new ServiceError("invalid_request", message, { errors: { automation_slug: [message] } });
      }
      await insertEvaluators(queries, created.id, evaluator_ids);
      return toAutomation(created, evaluator_ids);
    },

    list: async (uniqueOrganizationId) => {
      const rows = await select(uniqueOrganizationId).orderBy("created_at", "desc").orderBy("id").execute();
      return withEvaluators(rows);
    },

    update: async (uniqueOrganizationId, id, { evaluator_ids, is_enabled, configuration, ...change }) => {
      const row = await queries
        .updateTable("automations")
        .set({
          ...change,
          ...(is_enabled !== undefined && { is_enabled: is_enabled ? 1 : 0 }),
          ...(configuration && { configuration: JSON.stringify(configuration) }),
        })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returning("id")
        .executeTakeFirst();
      if (row === undefined) return undefined;
      if (evaluator_ids) {
        await queries.deleteFrom("automation_evaluators").where("automation_id", "=", id).execute();
        await insertEvaluators(queries, id, evaluator_ids);
      }
      return find(uniqueOrganizationId, id);
    },

    remove: async (uniqueOrganizationId, id) => {
      await queries
        .deleteFrom("automations")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .execute();
    },
  };
}

/** Methods for the runner, across all organizations. */
function runnerMethods(queries: ControlQueries): Pick<AutomationStore, "listActive" | "noteError"> {
  return {
    listActive: async () => {
      const rows = await queries
        .selectFrom("automations")
        .innerJoin("conditions", "conditions.id", "automations.condition_id")
        .selectAll("automations")
        .select("conditions.condition_policy")
        .where("automations.is_enabled", "=", 1)
        .execute();
      const ids = await evaluatorIds(
        queries,
        rows.map(({ id }) => id),
      );
      return rows.map(({ condition_policy, ...row }) => ({
        ...toAutomation(row, ids.get(row.id) ?? []),
        condition_policy: asPolicy(condition_policy),
      }));
    },

    noteError: async (id, message, at) => {
      const last_error = message.slice(0, storageLimits.evaluationErrorChars);
      await queries.updateTable("automations").set({ last_error, last_error_at: at }).where("id", "=", id).execute();
    },
  };
}

async function makeRoom(queries: ControlQueries, uniqueOrganizationId: string): Promise<void> {
  const { count } = await queries
    .selectFrom("automations")
    .select((column) => column.fn.countAll().as("count"))
    .where("unique_organization_id", "=", uniqueOrganizationId)
    .executeTakeFirstOrThrow();
  const max = storageLimits.automationsPerOrganization;
  if (Number(count) >= max) throw new ServiceError("conflict", `There are ${max} automations already.`);
}

async function insertEvaluators(queries: ControlQueries, automation_id: string, ids: readonly string[]): Promise<void> {
  const rows = ids.map((evaluator_id, position) => ({ automation_id, evaluator_id, position }));
  await queries.insertInto("automation_evaluators").values(rows).execute();
}

async function evaluatorIds(queries: ControlQueries, automationIds: readonly string[]): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>(automationIds.map((id) => [id, []]));
  // SQLite binds a bounded number of values in one statement.
  for (let start = 0; start < automationIds.length; start += idsPerSelect) {
    const rows = await queries
      .selectFrom("automation_evaluators")
      .select(["automation_id", "evaluator_id"])
      .where("automation_id", "in", automationIds.slice(start, start + idsPerSelect))
      .orderBy("automation_id")
      .orderBy("position")
      .execute();
    for (const row of rows) ids.get(row.automation_id)?.push(row.evaluator_id);
  }
  return ids;
}

const idsPerSelect = 1_000;

function toAutomation(row: AutomationRow, evaluator_ids: string[]): Automation {
  return {
    ...row,
    environment: asEnvironment(row.environment),
    automation_type: asAutomationType(row.automation_type),
    is_enabled: row.is_enabled === 1,
    configuration: asConfiguration(row.configuration),
    evaluator_ids,
  };
}

/** Safe because only `create` and `update` write the next three columns, from values of these types. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}

function asAutomationType(type: string): AutomationType {
  return type as AutomationType;
}

function asConfiguration(configuration: string): AutomationConfiguration {
  return JSON.parse(configuration) as AutomationConfiguration;
}
