import { sql } from "kysely";
import type { Environment } from "../../domain/principal.ts";
import { inKeyOrder } from "../../lib/in-key-order.ts";
import type { ControlQueries } from "./open-control-database.ts";

/** A trace whose completion is awaited. */
export type TraceWatch = {
  id: number;
  unique_organization_id: string;
  environment: Environment;
  trace_unique_id: string;
  /** When its newest span was received, in the time format of the span table. */
  last_received: string;
  /** When it counts as complete, unless another span arrives. */
  due_at: string;
};

/** Any number of nodes may work on it. Times except `last_received` are ISO 8601, UTC. */
export type TraceWatchStore = {
  /** Starts a watch, or extends it. `watches` has at most one entry per trace. */
  touch: (watches: ReadonlyArray<Omit<TraceWatch, "id">>) => Promise<void>;
  /** The number of watched traces by organization. */
  waiting: () => Promise<Map<string, number>>;
  /** Claims due watches until `until`; no other claim gets them before. */
  claim: (options: { now: string; until: string; limit: number }) => Promise<TraceWatch[]>;
  /** Ends a watch, unless another span arrived since it was claimed. */
  end: (watch: Pick<TraceWatch, "id" | "last_received">) => Promise<void>;
};

// Five values per row; SQLite binds at most 32,766.
const rowsPerInsert = 1_000;

export function createTraceWatchStore(queries: ControlQueries): TraceWatchStore {
  return {
    touch: async (watches) => {
      const ordered = inKeyOrder(watches, (watch) => [
        watch.unique_organization_id,
        watch.environment,
        watch.trace_unique_id,
      ]);
      for (let start = 0; start < ordered.length; start += rowsPerInsert) {
        await queries
          .insertInto("trace_watches")
          .values(ordered.slice(start, start + rowsPerInsert).map((watch) => ({ ...watch })))
          .onConflict((conflict) =>
            conflict.columns(["unique_organization_id", "environment", "trace_unique_id"]).doUpdateSet({
              last_received: sql`case when excluded.last_received > trace_watches.last_received
                then excluded.last_received else trace_watches.last_received end`,
              due_at: sql`excluded.due_at`,
            }),
          )
          .execute();
      }
    },

    waiting: async () => {
      const rows = await queries
        .selectFrom("trace_watches")
        .select((row) => ["unique_organization_id", row.fn.countAll().as("watches")])
        .groupBy("unique_organization_id")
        .execute();
      return new Map(rows.map(({ unique_organization_id, watches }) => [unique_organization_id, Number(watches)]));
    },

    claim: async ({ now, until, limit }) => {
      const rows = await queries
        .updateTable("trace_watches")
        .set({ due_at: until })
        .where("id", "in", (due) =>
          due.selectFrom("trace_watches").select("id").where("due_at", "<=", now).orderBy("due_at").limit(limit),
        )
        .where("due_at", "<=", now)
        .returningAll()
        .execute();
      return rows.map((row) => ({ ...row, environment: asEnvironment(row.environment) }));
    },

    end: async ({ id, last_received }) => {
      await queries
        .deleteFrom("trace_watches")
        .where("id", "=", id)
        .where("last_received", "=", last_received)
        .execute();
    },
  };
}

/** Safe because only `touch` writes the column, from an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
