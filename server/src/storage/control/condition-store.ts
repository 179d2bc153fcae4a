import type { Condition, ConditionPolicy, ConditionType } from "../../domain/condition.ts";
import { ServiceError } from "../../domain/errors.ts";
import { storageLimits } from "../limits.ts";
import { toAutomationUse, type AutomationUse } from "./automation-use.ts";
import { withOrganizationLock } from "./lock-organization.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { ConditionRow } from "./schema.ts";

export type ConditionChange = Partial<Pick<Condition, "name" | "description" | "condition_policy">> &
  Pick<Condition, "updated_at">;

/** Every method concerns the conditions of one organization. */
export type ConditionStore = {
  /** @throws ServiceError `invalid_request` if the slug is taken; `conflict` at as many as `limits.ts` allows */
  create: (condition: Condition) => Promise<Condition>;
  /** Newest first; at most `storageLimits.conditionsPerOrganization`. */
  list: (uniqueOrganizationId: string) => Promise<Condition[]>;
  /** By id, else by slug. */
  find: (uniqueOrganizationId: string, idOrSlug: string) => Promise<Condition | undefined>;
  /** Changes the given members and returns the result; undefined if there is no such condition. */
  update: (uniqueOrganizationId: string, id: string, change: ConditionChange) => Promise<Condition | undefined>;
  /** The automations that use it; a condition in use must not be removed. */
  usedBy: (id: string) => Promise<AutomationUse[]>;
  remove: (uniqueOrganizationId: string, id: string) => Promise<void>;
};

export function createConditionStore(queries: ControlQueries): ConditionStore {
  const listRows = (uniqueOrganizationId: string) =>
    queries.selectFrom("conditions").selectAll().where("unique_organization_id", "=", uniqueOrganizationId);

  return {
    create: (condition) =>
      withOrganizationLock(queries, condition.unique_organization_id, (locked) => createCondition(locked, condition)),

    list: async (uniqueOrganizationId) => {
      const rows = await listRows(uniqueOrganizationId).orderBy("created_at", "desc").orderBy("id").execute();
      return rows.map(toCondition);
    },

    find: async (uniqueOrganizationId, idOrSlug) => {
      const rows = await listRows(uniqueOrganizationId)
        .where((column) => column.or([column("id", "=", idOrSlug), column("condition_slug", "=", idOrSlug)]))
        .execute();
      const row = rows.find(({ id }) => id === idOrSlug) ?? rows[0];
      return row && toCondition(row);
    },

    update: async (uniqueOrganizationId, id, { condition_policy, ...change }) => {
      const row = await queries
        .updateTable("conditions")
        .set({ ...change, ...(condition_policy && { condition_policy: JSON.stringify(condition_policy) }) })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toCondition(row);
    },

    usedBy: async (id) => {
      const rows = await queries
        .selectFrom("automations")
        .select(["name", "environment"])
        .where("condition_id", "=", id)
        .execute();
      return rows.map(toAutomationUse);
    },

    remove: async (uniqueOrganizationId, id) => {
      await queries
        .deleteFrom("conditions")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .execute();
    },
  };
}

async function createCondition(queries: ControlQueries, condition: Condition): Promise<Condition> {
  const { count } = await queries
    .selectFrom("conditions")
    .select((column) => column.fn.countAll().as("count"))
    .where("unique_organization_id", "=", condition.unique_organization_id)
    .executeTakeFirstOrThrow();
  const max = storageLimits.conditionsPerOrganization;
  if (Number(count) >= max) throw new ServiceError("conflict", `There are ${max} conditions already.`);
  const created = await queries
    .insertInto("conditions")
    .values({ ...condition, condition_policy: JSON.stringify(condition.condition_policy) })
    .onConflict((conflict) => conflict.columns(["unique_organization_id", "condition_slug"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (created === undefined) {
    const message = "A condition with this slug exists already.";
    throw new ServiceError("invalid_request", message, { errors: { condition_slug: [message] } });
  }
  return toCondition(created);
}

function toCondition(row: ConditionRow): Condition {
  return {
    ...row,
    condition_type: asConditionType(row.condition_type),
    condition_policy: asPolicy(row.condition_policy),
  };
}

/** Safe because only `create` writes the column, from a ConditionType. */
function asConditionType(type: string): ConditionType {
  return type as ConditionType;
}

/** Safe because only `create` and `update` write the column, from a ConditionPolicy. */
export function asPolicy(policy: string): ConditionPolicy {
  return JSON.parse(policy) as ConditionPolicy;
}
