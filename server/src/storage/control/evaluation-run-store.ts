import { sql } from "kysely";
import type { Environment } from "../../domain/principal.ts";
import { omit } from "../../lib/omit.ts";
import { jsonRows } from "./json-rows.ts";
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
  /** How often a node ended while it had claimed it. */
  crashes: number;
};

export type NewRun = Omit<EvaluationRun, "id" | "attempts" | "crashes">;

/**
 * The queue of evaluations, and the memory of which there were: a run is made once for its automation, evaluator and log.
 * A claim lasts until its lease ends, then another node may claim it. A run whose node ended is a suspect: it is
 * claimed with few others, so that it harms no more. Times are ISO 8601, UTC.
 */
export type EvaluationRunStore = {
  /** How many of them are new, by organisation. */
  enqueue: (runs: readonly NewRun[], now: string) => Promise<Map<string, number>>;
  /** The next organisation after this one, in the order of their ids, that has runs to do; '' for the first. */
  nextOrganization: (after: string) => Promise<string | undefined>;
  /** Takes runs that are due and no suspects. */
  claim: (claim: {
    uniqueOrganizationId: string;
    owner: string;
    now: string;
    leaseUntil: string;
    limit: number;
  }) => Promise<EvaluationRun[]>;
  /** Takes suspects that are due, of whatever organisation, of those that saw the fewest crashes. @param limit by crashes */
  claimSuspects: (claim: {
    owner: string;
    now: string;
    leaseUntil: string;
    limit: (crashes: number) => number;
  }) => Promise<EvaluationRun[]>;
  renew: (owner: string, leaseUntil: string) => Promise<void>;
  /** Gives back what this owner has not done. */
  release: (owner: string, now: string) => Promise<void>;
  /** Gives back what crashed nodes left, and counts it: whose lease ended, and what this owner, if named, had before its restart. */
  recover: (now: string, restarted?: string) => Promise<void>;
  finish: (ids: readonly number[]) => Promise<void>;
  /** @param isRefused it was not tried at all, and the attempt does not count */
  retry: (id: number, dueAt: string, isRefused?: boolean) => Promise<void>;
  /** Forgets finished runs made before a time. */
  forget: (before: string) => Promise<void>;
  /** How many of each organisation are not done. */
  waiting: () => Promise<Map<string, number>>;
  /** How many are not done, counted up to a number. */
  pending: (upTo: number) => Promise<number>;
};

// A statement holds up everything else for milliseconds.
const rowsPerInsert = 1_000;

export function createEvaluationRunStore(queries: ControlQueries): EvaluationRunStore {
  return { ...queueMethods(queries), ...claimMethods(queries), ...leaseMethods(queries) };
}

type QueueMethods = Pick<EvaluationRunStore, "enqueue" | "finish" | "retry" | "forget" | "waiting" | "pending">;

function queueMethods(queries: ControlQueries): QueueMethods {
  return {
    enqueue: async (runs, now) => {
      const added = new Map<string, number>();
      for (const group of Map.groupBy(runs, groupKey).values()) {
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

    retry: async (id, dueAt, isRefused = false) => {
      await queries
        .updateTable("evaluation_runs")
        .set((column) => ({
          state: waitingState,
          owner: null,
          due_at: dueAt,
          attempts: column("attempts", "-", isRefused ? 1 : 0),
        }))
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

/** Runs of one evaluator of one automation: what they have in common is bound once. */
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
        // Said again, as another node may have claimed it in between.
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

/** Only `enqueue` writes the column, and it takes an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
