import { sql } from "kysely";
import type { Environment } from "../../domain/principal.ts";
import { omit } from "../../lib/omit.ts";
import { inKeyOrder } from "../../lib/in-key-order.ts";
import { jsonRows } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { EvaluationRunRow } from "./schema.ts";

/** The evaluation of one log by one evaluator of one automation. */
export type EvaluationRun = {
  id: number;
  automation_id: string;
  evaluator_id: string;
  log_id: string;
  unique_organization_id: string;
  environment: Environment;
  /** The log's end when it was seen, in stored form: where to look for it first. */
  log_timestamp: string;
  /** Including this one. */
  attempts: number;
  /** How often a node ended while it held the claim. */
  crashes: number;
};

export type NewRun = Omit<EvaluationRun, "id" | "attempts" | "crashes">;

/**
 * The queue of evaluations, and a record of past ones: a run is created once per automation, evaluator and log. Once
 * the lease of a claim has ended, another node may claim the run. A run whose node crashed is a suspect: it is claimed
 * with few others, so that another crash affects few. Times are ISO 8601, UTC.
 */
export type EvaluationRunStore = {
  /** Adds runs; returns the number of new ones by organization. */
  enqueue: (runs: readonly NewRun[], now: string) => Promise<Map<string, number>>;
  /** The next organization after this one, in order of id, that has pending runs; '' for the first. */
  nextOrganization: (after: string) => Promise<string | undefined>;
  /** Claims due runs that are not suspects. */
  claim: (claim: {
    uniqueOrganizationId: string;
    owner: string;
    now: string;
    leaseUntil: string;
    limit: number;
  }) => Promise<EvaluationRun[]>;
  /**
   * Claims due suspects of any organization, only those with the fewest crashes. @param limit by the number of crashes
   */
  claimSuspects: (claim: {
    owner: string;
    now: string;
    leaseUntil: string;
    limit: (crashes: number) => number;
  }) => Promise<EvaluationRun[]>;
  renew: (owner: string, leaseUntil: string) => Promise<void>;
  /** Releases the unfinished runs of this owner. */
  release: (owner: string, now: string) => Promise<void>;
  /**
   * Releases the runs of crashed nodes and counts the crash: runs whose lease has ended, and those that this owner, if
   * named, had before its restart.
   */
  recover: (now: string, restarted?: string) => Promise<void>;
  finish: (ids: readonly number[]) => Promise<void>;
  /**
   * Makes a claimed run due again. Changes nothing if the claim has ended, because another node may have the run.
   * @param isRefused true if the run was not attempted, so that the attempt does not count
   */
  retry: (run: Pick<EvaluationRun, "id" | "attempts">, dueAt: string, isRefused?: boolean) => Promise<void>;
  /** Deletes finished runs created before a time. */
  deleteBefore: (before: string) => Promise<void>;
  /** Unfinished runs by organization. */
  waiting: () => Promise<Map<string, number>>;
  /** The number of unfinished runs, counted up to a bound. */
  pending: (upTo: number) => Promise<number>;
};

// A statement blocks everything else for milliseconds.
const rowsPerInsert = 1_000;

export function createEvaluationRunStore(queries: ControlQueries): EvaluationRunStore {
  return { ...queueMethods(queries), ...claimMethods(queries), ...leaseMethods(queries) };
}

type QueueMethods = Pick<EvaluationRunStore, "enqueue" | "finish" | "retry" | "deleteBefore" | "waiting" | "pending">;

function queueMethods(queries: ControlQueries): QueueMethods {
  return {
    enqueue: async (runs, now) => {
      const added = new Map<string, number>();
      const ordered = inKeyOrder(runs, (run) => [groupKey(run), run.log_id]);
      for (const group of Map.groupBy(ordered, groupKey).values()) {
        const organization = group[0]?.unique_organization_id ?? "";
        for (let start = 0; start < group.length; start += rowsPerInsert) {
          const some = await insertRuns(queries, group.slice(start, start + rowsPerInsert), now);
          added.set(organization, (added.get(organization) ?? 0) + some);
        }
      }
      return added;
    },

    finish: async (ids) => {
      if (ids.length === 0) return;
      await queries
        .updateTable("evaluation_runs")
        .set({ state: "done", owner: null })
        .where(
          "id",
          "in",
          sql<number>`(select cast(value ->> 0 as integer) from json_each(${jsonRows(ids.map((id) => [id]))}))`,
        )
        .execute();
    },

    retry: async ({ id, attempts }, dueAt, isRefused = false) => {
      await queries
        .updateTable("evaluation_runs")
        .set((column) => ({
          state: waitingState,
          owner: null,
          due_at: dueAt,
          attempts: column("attempts", "-", isRefused ? 1 : 0),
        }))
        .where("id", "=", id)
        .where("state", "=", "running")
        .where("attempts", "=", attempts)
        .execute();
    },

    deleteBefore: async (before) => {
      await queries
        .deleteFrom("evaluation_runs")
        .where("state", "=", "done")
        .where("created_at", "<", before)
        .execute();
    },

    waiting: async () => {
      const rows = await queries
        .selectFrom("evaluation_runs")
        .select((row) => ["unique_organization_id", row.fn.countAll().as("runs")])
        .where("state", "in", unfinished)
        .groupBy("unique_organization_id")
        .execute();
      return new Map(rows.map(({ unique_organization_id, runs }) => [unique_organization_id, Number(runs)]));
    },

    pending: async (upTo) => {
      const { count } = await queries
        .selectFrom(
          queries
            .selectFrom("evaluation_runs")
            .select("id")
            .where("state", "in", unfinished)
            .limit(upTo)
            .as("unfinished_runs"),
        )
        .select((column) => column.fn.countAll().as("count"))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}

/** Inserts runs of one evaluator of one automation: their common values are bound once. */
async function insertRuns(queries: ControlQueries, runs: readonly NewRun[], now: string): Promise<number> {
  const [first] = runs;
  if (first === undefined) return 0;
  const { automation_id, evaluator_id, unique_organization_id, environment } = first;
  const logs = jsonRows(runs.map((run) => [run.log_id, run.log_timestamp]));
  const { numAffectedRows } = await sql`
    insert into evaluation_runs (automation_id, evaluator_id, log_id, unique_organization_id, environment,
                                 log_timestamp, state, attempts, due_at, owner, created_at)
    select ${automation_id}, ${evaluator_id}, value ->> 0, ${unique_organization_id}, ${environment},
           value ->> 1, 'pending', 0, ${now}, null, ${now}
    from json_each(${logs}) where true
    on conflict (log_id, automation_id, evaluator_id) do nothing`.execute(queries);
  return Number(numAffectedRows ?? 0n);
}

function groupKey({ automation_id, evaluator_id, unique_organization_id, environment }: NewRun): string {
  return `${automation_id} ${evaluator_id} ${environment} ${unique_organization_id}`;
}

const unfinished = ["pending", "suspect", "running"];

const waitingState = sql<string>`case when crashes > 0 then 'suspect' else 'pending' end`;

type ClaimMethods = Pick<EvaluationRunStore, "nextOrganization" | "claim" | "claimSuspects">;

function claimMethods(queries: ControlQueries): ClaimMethods {
  return {
    nextOrganization: async (after) => {
      const next = await queries
        .selectFrom("evaluation_runs")
        .select("unique_organization_id")
        .where("state", "=", "pending")
        .where("unique_organization_id", ">", after)
        .orderBy("unique_organization_id")
        .limit(1)
        .executeTakeFirst();
      return next?.unique_organization_id;
    },

    claim: async ({ uniqueOrganizationId, owner, now, leaseUntil, limit }) => {
      const due = queries
        .selectFrom("evaluation_runs")
        .select("id")
        .where("state", "=", "pending")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .orderBy("id")
        .limit(limit);
      const rows = await queries
        .updateTable("evaluation_runs")
        .set((column) => ({ state: "running", owner, due_at: leaseUntil, attempts: column("attempts", "+", 1) }))
        .where("id", "in", due)
        // Repeated because another node may have claimed it in between.
        .where("state", "=", "pending")
        .where("due_at", "<=", now)
        .returningAll()
        .execute();
      return rows.map(toRun);
    },

    claimSuspects: async ({ owner, now, leaseUntil, limit }) => {
      const due = await queries
        .selectFrom("evaluation_runs")
        .select(["id", "crashes"])
        .where("state", "=", "suspect")
        .where("due_at", "<=", now)
        .orderBy("crashes")
        .orderBy("due_at")
        .orderBy("id")
        .limit(limit(1))
        .execute();
      const fewest = due[0]?.crashes;
      if (fewest === undefined) return [];
      const ids = due.filter(({ crashes }) => crashes === fewest).map(({ id }) => id);
      const rows = await queries
        .updateTable("evaluation_runs")
        .set((column) => ({ state: "running", owner, due_at: leaseUntil, attempts: column("attempts", "+", 1) }))
        .where("id", "in", ids.slice(0, limit(fewest)))
        .where("state", "=", "suspect")
        .returningAll()
        .execute();
      return rows.map(toRun);
    },
  };
}

function leaseMethods(queries: ControlQueries): Pick<EvaluationRunStore, "renew" | "release" | "recover"> {
  return {
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
        .set({ state: waitingState, owner: null, due_at: now })
        .where("state", "=", "running")
        .where("owner", "=", owner)
        .execute();
    },

    recover: async (now, restarted) => {
      await queries
        .updateTable("evaluation_runs")
        .set((column) => ({ state: "suspect", crashes: column("crashes", "+", 1), owner: null, due_at: now }))
        .where("state", "=", "running")
        .where((row) =>
          row.or([row("due_at", "<=", now), ...(restarted === undefined ? [] : [row("owner", "=", restarted)])]),
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

/** Safe because only `enqueue` writes the column, from an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
