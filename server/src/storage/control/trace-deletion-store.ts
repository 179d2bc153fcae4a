import type { Environment } from "../../domain/principal.ts";
import type { TraceDeletion } from "../../domain/trace.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { TraceDeletionRow } from "./schema.ts";

export type TraceDeletionStore = {
  /** Records deletions, and ends the sharing of those traces: later spans with their ids were not shared. */
  add: (deletions: readonly TraceDeletion[]) => Promise<void>;
  /**
   * Deletions at or after `since`, oldest first, a page at a time. `after` is the cursor of the page before; without
   * it, the first page. The last page has no cursor.
   */
  list: (
    since: string,
    after?: DeletionCursor,
  ) => Promise<{ deletions: TraceDeletion[]; next: DeletionCursor | undefined }>;
  /** Removes records of deletions before a time. */
  deleteBefore: (before: string) => Promise<void>;
};

export type DeletionCursor = { deleted_at: string; id: number };

// Seven values per row; SQLite binds at most 32,766.
const rowsPerInsert = 500;

export function createTraceDeletionStore(queries: ControlQueries): TraceDeletionStore {
  return {
    add: async (deletions) => {
      for (let start = 0; start < deletions.length; start += rowsPerInsert) {
        const rows = deletions.slice(start, start + rowsPerInsert).map(toRow);
        await queries.insertInto("trace_deletions").values(rows).execute();
        await endSharing(queries, rows);
      }
    },

    list: async (since, after) => {
      const rows = await queries
        .selectFrom("trace_deletions")
        .selectAll()
        .where("deleted_at", ">=", since)
        .where((row) =>
          after === undefined
            ? row.lit(true)
            : row.or([
                row("deleted_at", ">", after.deleted_at),
                row.and([row("deleted_at", "=", after.deleted_at), row("id", ">", after.id)]),
              ]),
        )
        .orderBy("deleted_at")
        .orderBy("id")
        .limit(storageLimits.traceDeletionsPage)
        .execute();
      const last = rows.length === storageLimits.traceDeletionsPage ? rows.at(-1) : undefined;
      return { deletions: rows.map(toDeletion), next: last && { deleted_at: last.deleted_at, id: last.id } };
    },

    deleteBefore: async (before) => {
      await queries.deleteFrom("trace_deletions").where("deleted_at", "<", before).execute();
    },
  };
}

async function endSharing(queries: ControlQueries, deleted: readonly DeletionRow[]): Promise<void> {
  const placeOf = (row: DeletionRow): string => `${row.unique_organization_id} ${row.environment}`;
  for (const rows of Map.groupBy(deleted, placeOf).values()) {
    const [{ unique_organization_id, environment }] = rows as [DeletionRow];
    await queries
      .deleteFrom("trace_shares")
      .where("unique_organization_id", "=", unique_organization_id)
      .where("environment", "=", environment)
      .where(
        "trace_unique_id",
        "in",
        rows.map((row) => row.trace_unique_id),
      )
      .execute();
  }
}

type DeletionRow = Omit<TraceDeletionRow, "id">;

function toRow({
  organization_id,
  environment,
  trace_unique_id,
  fromNs,
  toNs,
  deletedAtMs,
}: TraceDeletion): DeletionRow {
  return {
    unique_organization_id: organization_id,
    environment,
    trace_unique_id,
    from_ns: fromNs.toString(),
    to_ns: toNs.toString(),
    deleted_at: new Date(deletedAtMs).toISOString(),
  };
}

function toDeletion(row: DeletionRow): TraceDeletion {
  return {
    organization_id: row.unique_organization_id,
    environment: asEnvironment(row.environment),
    trace_unique_id: row.trace_unique_id,
    fromNs: BigInt(row.from_ns),
    toNs: BigInt(row.to_ns),
    deletedAtMs: Date.parse(row.deleted_at),
  };
}

/** Safe because only `add` writes the column, from an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
