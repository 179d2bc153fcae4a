import { limits } from "../../../limits.ts";
import { isCountedColumn, type ReadColumn, type SpanColumn, type SpanScope } from "../../../domain/span.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { SpanKey, StoredSpan } from "../span-store.ts";
import { storedSpan } from "./result-values.ts";
import { allOf, scopeWhere } from "./selection.ts";
import { readCounts, storedColumns, withCount } from "./span-counts.ts";
import { byIds, readEdits, withEdits } from "./span-edits.ts";

export const keyColumns = ["timestamp", "unique_id", "environment", "version"] as const satisfies readonly SpanColumn[];

/**
 * The spans of the keys, in their order. Read by primary key and without FINAL, so that payload is decompressed for their
 * granules alone; the version tells which of several rows is meant. A span that was deleted since is left out; of one
 * that was sent again since, the newest row is taken.
 */
export async function hydrateSpans(
  database: SpanDatabase,
  scope: SpanScope,
  keys: readonly SpanKey[],
  fields: readonly ReadColumn[],
  signal?: AbortSignal,
): Promise<StoredSpan[]> {
  if (keys.length === 0) return [];
  const columns = storedColumns([...new Set<ReadColumn>([...keyColumns, "is_deleted", ...fields])]);
  const where = allOf(scopeWhere(scope), {
    sql: "toDate32(timestamp) IN {days:Array(Date32)} AND timestamp IN {times:Array(DateTime64(9, 'UTC'))} AND unique_id IN {ids:Array(UUID)}",
    params: {
      days: [...new Set(keys.map((key) => key.timestamp.slice(0, 10)))],
      times: [...new Set(keys.map((key) => key.timestamp))],
      ids: keys.map((key) => key.unique_id),
    },
  });
  const counting = readCounts(database, where, fields, signal);
  const finding = database.query(
    {
      name: "hydrate",
      sql: `SELECT ${columns.join(", ")} FROM spans PREWHERE ${where.sql}`,
      params: where.params,
      // A thousand spans of megabytes each are an answer that nobody can take: fewer rows or fields, please.
      settings: { max_result_bytes: limits.pagePayloadBytes, result_overflow_mode: "throw" },
    },
    signal,
  );
  const editing = readEdits(database, scope, { ids: byIds(keys.map((key) => key.unique_id)), columns: fields }, signal);
  const [counts, edits, { rows }] = await Promise.all([counting, editing, finding]);
  const isCounted = fields.some(isCountedColumn);
  const newest = newestBy(rows.map(storedSpan), keyText, ({ version }) => version);
  return keys.flatMap((key) => {
    const row = newest.get(keyText(key));
    if (row === undefined || row.is_deleted === 1) return [];
    if (!fields.includes("is_deleted")) delete (row as ResultRow)["is_deleted"];
    const edited = withEdits(row, edits);
    return [isCounted ? withCount(edited, counts) : edited];
  });
}

/** Of rows of one key the one of the highest version, which is a whole number as text. */
export function newestBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  versionOf: (row: Row) => string,
): Map<string, Row> {
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    const other = newest.get(key);
    if (other === undefined || BigInt(versionOf(other)) < BigInt(versionOf(row))) newest.set(key, row);
  }
  return newest;
}

function keyText({ timestamp, unique_id: id, environment }: SpanKey): string {
  return `${timestamp} ${id} ${environment}`;
}
