import { sql } from "kysely";
import type { Evaluator, EvaluatorDefinition, EvaluatorVersion } from "../../domain/evaluator.ts";
import { ServiceError } from "../../domain/errors.ts";
import { omit } from "../../lib/omit.ts";
import { storageLimits } from "../limits.ts";
import { jsonRows } from "./json-rows.ts";
import { toAutomationUse, type AutomationUse } from "./automation-use.ts";
import { withOrganizationLock } from "./lock-organization.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { EvaluatorRow, EvaluatorVersionRow } from "./schema.ts";

export type EvaluatorChange = { definition: EvaluatorDefinition; starred: boolean; updated_at: string };

export type EvaluatorStore = {
  /** @throws ServiceError `invalid_request` if the slug is taken; `conflict` at as many as `limits.ts` allows */
  create: (evaluator: Evaluator) => Promise<Evaluator>;
  /** Newest first; at most `storageLimits.evaluatorsPerOrganization`. */
  list: (uniqueOrganizationId: string) => Promise<Evaluator[]>;
  /** By id, else by slug. */
  find: (uniqueOrganizationId: string, idOrSlug: string) => Promise<Evaluator | undefined>;
  count: (uniqueOrganizationId: string) => Promise<number>;
  /** The existing evaluators with these slugs, in no order. */
  findBySlugs: (uniqueOrganizationId: string, slugs: readonly string[]) => Promise<Evaluator[]>;
  /** The existing evaluators with these ids, in no order. */
  findAll: (uniqueOrganizationId: string, ids: readonly string[]) => Promise<Evaluator[]>;
  update: (uniqueOrganizationId: string, id: string, change: EvaluatorChange) => Promise<Evaluator | undefined>;
  /** The automations that use it; an evaluator in use must not be removed. */
  usedBy: (id: string) => Promise<AutomationUse[]>;
  /** Also removes its versions; its scores stay. */
  remove: (uniqueOrganizationId: string, id: string) => Promise<void>;
  /**
   * Freezes a definition under the next number. Call it inside a transaction.
   * @throws ServiceError `conflict` at as many as `limits.ts` allows
   */
  addVersion: (version: Omit<EvaluatorVersion, "version">) => Promise<EvaluatorVersion>;
  /** Newest first. */
  listVersions: (evaluatorId: string) => Promise<EvaluatorVersion[]>;
};

export function createEvaluatorStore(queries: ControlQueries): EvaluatorStore {
  return {
    ...readMethods(queries),
    ...versionMethods(queries),

    create: (evaluator) =>
      withOrganizationLock(queries, evaluator.unique_organization_id, (locked) => createEvaluator(locked, evaluator)),

    update: async (uniqueOrganizationId, id, { definition, starred, updated_at }) => {
      const row = await queries
        .updateTable("evaluators")
        .set({ definition: JSON.stringify(definition), starred: starred ? 1 : 0, updated_at })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toEvaluator(row);
    },

    usedBy: async (id) => {
      const rows = await queries
        .selectFrom("automation_evaluators")
        .innerJoin("automations", "automations.id", "automation_evaluators.automation_id")
        .select(["automations.name", "automations.environment"])
        .where("automation_evaluators.evaluator_id", "=", id)
        .execute();
      return rows.map(toAutomationUse);
    },

    remove: async (uniqueOrganizationId, id) => {
      await queries
        .deleteFrom("evaluators")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .execute();
    },
  };
}

async function createEvaluator(queries: ControlQueries, evaluator: Evaluator): Promise<Evaluator> {
  const max = storageLimits.evaluatorsPerOrganization;
  if ((await readMethods(queries).count(evaluator.unique_organization_id)) >= max)
    throw new ServiceError("conflict", `There are ${max} evaluators already.`);
  const created = await queries
    .insertInto("evaluators")
    .values(toRow(evaluator))
    .onConflict((conflict) => conflict.columns(["unique_organization_id", "evaluator_slug"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (created === undefined) {
    const message = "An evaluator with this slug exists already.";
    throw new ServiceError("invalid_request", message, { errors: { evaluator_slug: [message] } });
  }
  return toEvaluator(created);
}

function readMethods(
  queries: ControlQueries,
): Pick<EvaluatorStore, "count" | "list" | "find" | "findAll" | "findBySlugs"> {
  const select = (uniqueOrganizationId: string) =>
    queries.selectFrom("evaluators").selectAll().where("unique_organization_id", "=", uniqueOrganizationId);
  return {
    count: async (uniqueOrganizationId) => {
      const { count } = await queries
        .selectFrom("evaluators")
        .select((column) => column.fn.countAll().as("count"))
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    list: async (uniqueOrganizationId) => {
      const rows = await select(uniqueOrganizationId).orderBy("created_at", "desc").orderBy("id").execute();
      return rows.map(toEvaluator);
    },

    find: async (uniqueOrganizationId, idOrSlug) => {
      const rows = await select(uniqueOrganizationId)
        .where((column) => column.or([column("id", "=", idOrSlug), column("evaluator_slug", "=", idOrSlug)]))
        .execute();
      const row = rows.find(({ id }) => id === idOrSlug) ?? rows[0];
      return row && toEvaluator(row);
    },

    findAll: async (uniqueOrganizationId, ids) => {
      if (ids.length === 0) return [];
      const rows = await select(uniqueOrganizationId).where("id", "in", ids).execute();
      return rows.map(toEvaluator);
    },

    findBySlugs: async (uniqueOrganizationId, slugs) => {
      const values = jsonRows(slugs.map((slug) => [slug]));
      const rows = await select(uniqueOrganizationId)
        .where("evaluator_slug", "in", sql<string>`(select value ->> 0 from json_each(${values}))`)
        .execute();
      return rows.map(toEvaluator);
    },
  };
}

function versionMethods(queries: ControlQueries): Pick<EvaluatorStore, "addVersion" | "listVersions"> {
  const listVersions: EvaluatorStore["listVersions"] = async (evaluatorId) => {
    const rows = await queries
      .selectFrom("evaluator_versions")
      .selectAll()
      .where("evaluator_id", "=", evaluatorId)
      .orderBy("version", "desc")
      .execute();
    return rows.map(toVersion);
  };

  return {
    listVersions,

    addVersion: async ({ definition, ...version }) => {
      const [newest] = await listVersions(version.evaluator_id);
      const number = (newest?.version ?? 0) + 1;
      const max = storageLimits.versionsPerEvaluator;
      if (number > max) throw new ServiceError("conflict", `There are ${max} versions already.`);
      const row = { ...version, version: number, definition: JSON.stringify(definition) };
      return toVersion(
        await queries.insertInto("evaluator_versions").values(row).returningAll().executeTakeFirstOrThrow(),
      );
    },
  };
}

export function definitionOf(evaluator: Evaluator): EvaluatorDefinition {
  return omit(evaluator, "id", "unique_organization_id", "evaluator_slug", "starred", "created_at", "updated_at");
}

function toRow(evaluator: Evaluator): EvaluatorRow {
  const { id, unique_organization_id, evaluator_slug, starred, created_at, updated_at } = evaluator;
  return {
    id,
    unique_organization_id,
    evaluator_slug,
    starred: starred ? 1 : 0,
    created_at,
    updated_at,
    definition: JSON.stringify(definitionOf(evaluator)),
  };
}

function toEvaluator({ definition, starred, ...row }: EvaluatorRow): Evaluator {
  return { ...asDefinition(definition), ...row, starred: starred === 1 };
}

function toVersion({ definition, ...row }: EvaluatorVersionRow): EvaluatorVersion {
  return { ...row, definition: asDefinition(definition) };
}

/** Safe because only this store writes the column, from an EvaluatorDefinition. */
function asDefinition(definition: string): EvaluatorDefinition {
  return JSON.parse(definition) as EvaluatorDefinition;
}
