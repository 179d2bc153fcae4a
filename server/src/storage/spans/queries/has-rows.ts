import type { SpanDatabase } from "../drivers/span-database.ts";

const tables = { counts: "span_counts", scores: "scores", extents: "trace_extents" } as const;
type Watched = keyof typeof tables;

/** Whether an organization has rows in a side table. Cached if only this node writes the table, until rows come in. */
export async function hasRows(
  database: SpanDatabase,
  watched: Watched,
  organizationId: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const watch = database[watched];
  if (watch?.hasNone(organizationId) === true) return false;
  if (watch?.hasSome(organizationId) === true) return true;
  const before = watch?.state();
  const { rows } = await database.query(
    {
      name: "has_rows",
      sql: `SELECT 1 AS one FROM ${tables[watched]} WHERE organization_id = {organization_id:String} LIMIT 1`,
      params: { organization_id: organizationId },
    },
    signal,
  );
  if (rows.length > 0) watch?.foundSome(organizationId);
  else if (before !== undefined && watch?.state() === before) watch.foundNone(organizationId);
  return rows.length > 0;
}

/** The same without a probe on each call: if other nodes write too, any organization may have some. */
export async function mayHaveRows(
  database: SpanDatabase,
  watched: Watched,
  organizationId: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return database[watched] === undefined || (await hasRows(database, watched, organizationId, signal));
}
