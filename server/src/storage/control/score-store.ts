import { sql } from "kysely";
import type { Score } from "../../domain/score.ts";
import { inKeyOrder } from "../../lib/in-key-order.ts";
import { storageLimits } from "../limits.ts";
import { jsonRows } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { ScoreRow } from "./schema.ts";

export type ScoreFilter = {
  log_id?: string | undefined;
  evaluator_id?: string | undefined;
  automation_id?: string | undefined;
  environment?: string | undefined;
};

/** A change that the copy in the span store does not have yet; `score` is undefined if it was deleted. */
export type UnreplicatedScore = Pick<
  ScoreRow,
  "id" | "revision" | "unique_organization_id" | "log_id" | "evaluator_id"
> & {
  score: Score | undefined;
};

/** The scores: one per log and evaluator. Call methods that read and then write inside a transaction. */
export type ScoreStore = {
  /** Adds the scores that are the first of their log and evaluator, and returns them. */
  add: (scores: readonly Score[], nowMs: number) => Promise<Score[]>;
  find: (uniqueOrganizationId: string, id: string) => Promise<Score | undefined>;
  /** All scores of these logs, oldest first. */
  listOfLogs: (uniqueOrganizationId: string, logIds: readonly string[]) => Promise<Score[]>;
  /** The evaluators that have scored these logs. */
  scored: (
    uniqueOrganizationId: string,
    logIds: readonly string[],
  ) => Promise<Array<Pick<Score, "log_id" | "evaluator_id">>>;
  /** Newest first. */
  list: (
    uniqueOrganizationId: string,
    filter: ScoreFilter,
    page: { limit: number; offset: number },
  ) => Promise<{ count: number; scores: Score[] }>;
  /** Replaces a score by one of the same id, log and evaluator; undefined if it was deleted. */
  replace: (score: Score, nowMs: number) => Promise<Score | undefined>;
  /** Whether it existed. */
  remove: (uniqueOrganizationId: string, id: string, nowMs: number) => Promise<boolean>;
  /** Oldest change first. */
  unreplicated: (limit: number) => Promise<UnreplicatedScore[]>;
  /** Skips those that have changed since. */
  markReplicated: (changes: ReadonlyArray<Pick<UnreplicatedScore, "id" | "revision">>, nowMs: number) => Promise<void>;
  deleteBefore: (uniqueOrganizationId: string, before: string) => Promise<void>;
};

// A statement blocks everything else for milliseconds.
const rowsPerInsert = 500;

export function createScoreStore(queries: ControlQueries): ScoreStore {
  return { ...writers(queries), ...readers(queries), ...replication(queries) };
}

function writers(queries: ControlQueries): Pick<ScoreStore, "add" | "replace" | "remove"> {
  return {
    add: async (scores, nowMs) => {
      const firsts = new Map<string, Score>();
      for (const score of scores) {
        const key = `${score.unique_organization_id} ${score.log_id} ${score.evaluator_id}`;
        if (!firsts.has(key)) firsts.set(key, score);
      }
      const all = inKeyOrder([...firsts.values()], (score) => [
        score.unique_organization_id,
        score.log_id,
        score.evaluator_id,
      ]);
      const added: Score[] = [];
      for (let start = 0; start < all.length; start += rowsPerInsert) {
        added.push(...(await insertScores(queries, all.slice(start, start + rowsPerInsert), nowMs)));
      }
      return added;
    },

    replace: async (score, nowMs) => {
      const change = await revise(queries, score.unique_organization_id, score.id, nowMs);
      if (change === undefined) return undefined;
      const row = await change({ document: JSON.stringify(score) })
        .returning("document")
        .executeTakeFirst();
      return row && toScore(row);
    },

    remove: async (uniqueOrganizationId, id, nowMs) => {
      const change = await revise(queries, uniqueOrganizationId, id, nowMs);
      if (change === undefined) return false;
      return (await change({ is_deleted: 1, document: "" }).returning("id").executeTakeFirst()) !== undefined;
    },
  };
}

async function insertScores(queries: ControlQueries, scores: readonly Score[], nowMs: number): Promise<Score[]> {
  const rows = scores.map((score) => {
    const { id, unique_organization_id, environment, log_id, evaluator_id, automation_id, created_at } = score;
    const document = JSON.stringify(score);
    return [id, unique_organization_id, environment, log_id, evaluator_id, automation_id, document, created_at];
  });
  // On conflict: replaces a deleted score under the next revision, so that the deletion of its copy does not hide it.
  const result = await sql<{ id: string }>`
    insert into scores (id, unique_organization_id, environment, log_id, evaluator_id, automation_id, document,
                        created_at, revision, is_deleted, is_mirrored)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
           value ->> 7, ${revisionText(nowMs * 1_000)}, 0, 0
    from json_each(${jsonRows(rows)}) where true
    on conflict (unique_organization_id, log_id, evaluator_id) do update set
      id = excluded.id, environment = excluded.environment, automation_id = excluded.automation_id,
      document = excluded.document, created_at = excluded.created_at,
      revision = case when excluded.revision > scores.revision then excluded.revision
        else substr('0000000000000000' || cast(cast(scores.revision as bigint) + 1 as text),
                    length(cast(cast(scores.revision as bigint) + 1 as text)) + 1) end,
      is_deleted = 0, is_mirrored = 0
    where scores.is_deleted = 1
    returning id`.execute(queries);
  const ids = new Set(result.rows.map(({ id }) => id));
  return scores.filter(({ id }) => ids.has(id));
}

/** An update under the next revision, which is higher than the previous one whatever the clock says. */
async function revise(queries: ControlQueries, uniqueOrganizationId: string, id: string, nowMs: number) {
  const before = await present(queries, uniqueOrganizationId)
    .select("revision")
    .where("id", "=", id)
    .executeTakeFirst();
  if (before === undefined) return undefined;
  const revision = revisionText(Math.max(nowMs * 1_000, Number(before.revision) + 1));
  return (change: { document: string; is_deleted?: 1 }) =>
    queries
      .updateTable("scores")
      .set({ ...change, revision, is_mirrored: 0 })
      .where("unique_organization_id", "=", uniqueOrganizationId)
      .where("id", "=", id)
      .where("revision", "=", before.revision);
}

function present(queries: ControlQueries, uniqueOrganizationId: string) {
  return queries
    .selectFrom("scores")
    .where("unique_organization_id", "=", uniqueOrganizationId)
    .where("is_deleted", "=", 0);
}

function readers(queries: ControlQueries): Pick<ScoreStore, "find" | "listOfLogs" | "scored" | "list"> {
  return {
    find: async (uniqueOrganizationId, id) => {
      const row = await present(queries, uniqueOrganizationId)
        .select("document")
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toScore(row);
    },

    listOfLogs: async (uniqueOrganizationId, logIds) => {
      const scores: Score[] = [];
      for (let start = 0; start < logIds.length; start += rowsPerInsert) {
        const rows = await present(queries, uniqueOrganizationId)
          .select("document")
          .where("log_id", "in", logIds.slice(start, start + rowsPerInsert))
          .orderBy("created_at")
          .orderBy("id")
          .execute();
        scores.push(...rows.map(toScore));
      }
      return scores;
    },

    scored: (uniqueOrganizationId, logIds) =>
      present(queries, uniqueOrganizationId)
        .select(["log_id", "evaluator_id"])
        .where("log_id", "in", sql<string>`(select value ->> 0 from json_each(${jsonRows(logIds.map((id) => [id]))}))`)
        .execute(),

    list: async (uniqueOrganizationId, filter, { limit, offset }) => {
      let matching = present(queries, uniqueOrganizationId);
      for (const name of ["log_id", "evaluator_id", "automation_id", "environment"] as const) {
        const value = filter[name];
        if (value !== undefined) matching = matching.where(name, "=", value);
      }
      const { count } = await matching.select((column) => column.fn.countAll().as("count")).executeTakeFirstOrThrow();
      const rows = await matching
        .select("document")
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(limit)
        .offset(offset)
        .execute();
      return { count: Number(count), scores: rows.map(toScore) };
    },
  };
}

function replication(queries: ControlQueries): Pick<ScoreStore, "unreplicated" | "markReplicated" | "deleteBefore"> {
  return {
    unreplicated: async (limit) => {
      const rows = await queries
        .selectFrom("scores")
        .select(["id", "revision", "unique_organization_id", "log_id", "evaluator_id", "document", "is_deleted"])
        .where("is_mirrored", "=", 0)
        .orderBy("revision")
        .limit(limit)
        .execute();
      return rows.map(({ document, is_deleted, ...key }) => ({
        ...key,
        score: is_deleted === 1 ? undefined : toScore({ document }),
      }));
    },

    markReplicated: async (changes, nowMs) => {
      // Scores that were created together share a revision.
      for (const [revision, part] of Map.groupBy(changes, (change) => change.revision)) {
        const ids = jsonRows(part.map(({ id }) => [id]));
        await queries
          .updateTable("scores")
          .set({ is_mirrored: 1 })
          .where("revision", "=", revision)
          .where("id", "in", sql<string>`(select value ->> 0 from json_each(${ids}))`)
          .execute();
      }
      await queries
        .deleteFrom("scores")
        .where("is_mirrored", "=", 1)
        .where("is_deleted", "=", 1)
        .where("revision", "<", revisionText((nowMs - storageLimits.deletedScoreMs) * 1_000))
        .execute();
    },

    deleteBefore: async (uniqueOrganizationId, before) => {
      await queries
        .deleteFrom("scores")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("created_at", "<", before)
        .execute();
    },
  };
}

function revisionText(microseconds: number): string {
  return String(Math.trunc(microseconds)).padStart(16, "0");
}

/** Safe because only this store writes the column, from a Score. */
function toScore({ document }: Pick<ScoreRow, "document">): Score {
  return JSON.parse(document) as Score;
}
