import type { Environment } from "../../domain/principal.ts";
import { omit } from "../../lib/omit.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { EvaluationRunRow } from "./schema.ts";

/** One log that one evaluator of one automation judges. */
export type EvaluationRun = {
  id: number;
  automation_id: string;
  evaluator_id: string;
  log_id: string;
  unique_organization_id: string;
  environment: Environment;
  /** The log's end when it was seen, as stored: where to look for it first. */
  log_timestamp: string;
  /** This one included. */
  attempts: number;
};

export type NewRun = Omit<EvaluationRun, "id" | "attempts">;

/**
 * The queue of evaluations, and the memory of which there were: a run is made once for its automation, evaluator and log.
 * A claim lasts until its lease ends, then another node may claim it. Times are ISO 8601, UTC.
 */
export type EvaluationRunStore = {
  /** How many of them are new. */
  enqueue: (runs: readonly NewRun[], now: string) => Promise<number>;
  /** The next organisation after this one, in the order of their ids, that has runs to do; '' for the first. */
  nextOrganization: (after: string) => Promise<string | undefined>;
  /** Takes runs that are due, and those whose owner let their lease end. */
  claim: (claim: {
    uniqueOrganizationId: string;
    owner: string;
    now: string;
    leaseUntil: string;
    limit: number;
  }) => Promise<EvaluationRun[]>;
  renew: (owner: string, leaseUntil: string) => Promise<void>;
  /** Gives back what an earlier life of this owner left. */
  release: (owner: string, now: string) => Promise<void>;
  finish: (ids: readonly number[]) => Promise<void>;
  retry: (id: number, dueAt: string) => Promise<void>;
  /** Forgets finished runs made before a time. */
  forget: (before: string) => Promise<void>;
  pending: () => Promise<number>;
  /** Micro-dollars that model judges of an automation cost on a day. */
  spent: (automationId: string, day: string) => Promise<number>;
  addSpent: (automationId: string, day: string, microUsd: number) => Promise<void>;
};

// Twelve values a row, and SQLite binds no more than 32,766.
const rowsPerInsert = 500;

export function createEvaluationRunStore(queries: ControlQueries): EvaluationRunStore {
  return { ...queueMethods(queries), ...claimMethods(queries), ...spendMethods(queries) };
}

type QueueMethods = Pick<EvaluationRunStore, "enqueue" | "finish" | "retry" | "forget" | "pending">;

function queueMethods(queries: ControlQueries): QueueMethods {
  return {
    enqueue: async (runs, now) => {
      let added = 0;
      for (let start = 0; start < runs.length; start += rowsPerInsert) {
        const rows = runs
          .slice(start, start + rowsPerInsert)
          .map((run) => ({ ...run, state: "pending", attempts: 0, due_at: now, owner: null, created_at: now }));
        const result = await queries
          .insertInto("evaluation_runs")
          .values(rows)
          .onConflict((conflict) => conflict.columns(["log_id", "automation_id", "evaluator_id"]).doNothing())
          .executeTakeFirst();
        added += Number(result.numInsertedOrUpdatedRows ?? 0n);
      }
      return added;
    },

    finish: async (ids) => {
      if (ids.length === 0) return;
      await queries.updateTable("evaluation_runs").set({ state: "done", owner: null }).where("id", "in", ids).execute();
    },

    retry: async (id, dueAt) => {
      await queries
        .updateTable("evaluation_runs")
        .set({ state: "pending", owner: null, due_at: dueAt })
        .where("id", "=", id)
        .execute();
    },

    forget: async (before) => {
      await queries
        .deleteFrom("evaluation_runs")
        .where("state", "=", "done")
        .where("created_at", "<", before)
        .execute();
    },

    pending: async () => {
      const { count } = await queries
        .selectFrom("evaluation_runs")
        .select((column) => column.fn.countAll().as("count"))
        .where("state", "in", unfinished)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}

const unfinished = ["pending", "running"];

type ClaimMethods = Pick<EvaluationRunStore, "nextOrganization" | "claim" | "renew" | "release">;

function claimMethods(queries: ControlQueries): ClaimMethods {
  return {
    nextOrganization: async (after) => {
      const next = (state: string) =>
        queries
          .selectFrom("evaluation_runs")
          .select("unique_organization_id")
          .where("state", "=", state)
          .where("unique_organization_id", ">", after)
          .orderBy("unique_organization_id")
          .limit(1)
          .executeTakeFirst();
      const found = await Promise.all(unfinished.map(next));
      const ids = found.flatMap((row) => (row === undefined ? [] : [row.unique_organization_id]));
      return ids.sort()[0];
    },

    claim: async ({ uniqueOrganizationId, owner, now, leaseUntil, limit }) => {
      const due = queries
        .selectFrom("evaluation_runs")
        .select("id")
        .where("state", "in", unfinished)
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .orderBy("id")
        .limit(limit);
      const rows = await queries
        .updateTable("evaluation_runs")
        .set((column) => ({ state: "running", owner, due_at: leaseUntil, attempts: column("attempts", "+", 1) }))
        .where("id", "in", due)
        // Said again, as another node may have claimed it in between.
        .where("state", "in", unfinished)
        .where("due_at", "<=", now)
        .returningAll()
        .execute();
      return rows.map(toRun);
    },

    renew: async (owner, leaseUntil) => {
      await queries
        .updateTable("evaluation_runs")
        .set({ due_at: leaseUntil })
        .where("state", "=", "running")
        .where("owner", "=", owner)
        .execute();
    },

    release: async (owner, now) => {
      await queries
        .updateTable("evaluation_runs")
        .set({ state: "pending", owner: null, due_at: now })
        .where("state", "=", "running")
        .where("owner", "=", owner)
        .execute();
    },
  };
}

function spendMethods(queries: ControlQueries): Pick<EvaluationRunStore, "spent" | "addSpent"> {
  return {
    spent: async (automationId, day) => {
      const row = await queries
        .selectFrom("automation_spend")
        .select("spent_micro_usd")
        .where("automation_id", "=", automationId)
        .where("day", "=", day)
        .executeTakeFirst();
      return Number(row?.spent_micro_usd ?? 0);
    },

    addSpent: async (automation_id, day, microUsd) => {
      await queries
        .insertInto("automation_spend")
        .values({ automation_id, day, spent_micro_usd: microUsd })
        .onConflict((conflict) =>
          conflict.columns(["automation_id", "day"]).doUpdateSet((column) => ({
            spent_micro_usd: column("automation_spend.spent_micro_usd", "+", column.ref("excluded.spent_micro_usd")),
          })),
        )
        .execute();
    },
  };
}

function toRun(row: EvaluationRunRow): EvaluationRun {
  return {
    ...omit(row, "state", "owner", "due_at", "created_at"),
    environment: asEnvironment(row.environment),
  };
}

/** Only `enqueue` writes the column, and it takes an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
