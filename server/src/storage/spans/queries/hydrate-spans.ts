import { storageLimits } from "../../limits.ts";
import { isCountedColumn, type ReadColumn, type SpanColumn, type SpanScope } from "../../../domain/span.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { SpanKey, StoredSpan } from "../span-store.ts";
import { packingOf } from "./packed-columns.ts";
import { storedSpan } from "./result-values.ts";
import { allOf, scopeWhere, type Where } from "./selection.ts";
import { readCounts, readFewCounts, storedColumns, withCount } from "./span-counts.ts";
import { byIds, readEdits, withEdits } from "./span-edits.ts";

export const keyColumns = ["timestamp", "unique_id", "environment", "version"] as const satisfies readonly SpanColumn[];

/**
 * Returns the spans of the keys, in their order. Reads by primary key and without FINAL, so payload is decompressed for
 * their granules only, and takes the newest row of each key. Spans that were deleted in the meantime are left out.
 */
export async function hydrateSpans(
  database: SpanDatabase,
  scope: SpanScope,
  keys: readonly SpanKey[],
  fields: readonly ReadColumn[],
  signal?: AbortSignal,
): Promise<StoredSpan[]> {
  if (keys.length === 0) return [];
  const where = allOf(scopeWhere(scope), {
    sql: "toDate32(timestamp) IN {days:Array(Date32)} AND timestamp IN {times:Array(DateTime64(9, 'UTC'))} AND unique_id IN {ids:Array(UUID)}",
    params: {
      days: [...new Set(keys.map((key) => key.timestamp.slice(0, 10)))],
      times: [...new Set(keys.map((key) => key.timestamp))],
      ids: keys.map((key) => key.unique_id),
    },
  });
  const finding = newestSpans(database, { name: "hydrate", where, fields }, signal);
  const editing = readEdits(database, scope, { ids: byIds(keys.map((key) => key.unique_id)), columns: fields }, signal);
  const [{ newest }, edits] = await Promise.all([finding, editing]);
  return keys.flatMap((key) => {
    const row = newest.get(keyText(key));
    return row === undefined ? [] : [withEdits(row, edits)];
  });
}

/**
 * Returns the spans of `where` by their keys, without FINAL: the newest row of each key. `where` only reads columns
 * that the tables of spans and counts both have. `isAll`: there were no more than `most` rows.
 */
export async function newestSpans(
  database: SpanDatabase,
  { name, where, fields, most }: { name: string; where: Where; fields: readonly ReadColumn[]; most?: number },
  signal?: AbortSignal,
): Promise<{ newest: Map<string, StoredSpan>; isAll: boolean }> {
  const packing = packingOf(storedColumns([...new Set<ReadColumn>([...keyColumns, ...fields])]));
  const select = [...new Set([...packing.select, "is_deleted"])].join(", ");
  const limit = most === undefined ? "" : `LIMIT ${most + 1}`;
  // A span may have several rows of counts.
  const counting =
    most === undefined
      ? readCounts(database, where, fields, signal)
      : readFewCounts(database, where, { columns: fields, most: 2 * most }, signal);
  const finding = database.query(
    {
      name,
      sql: `SELECT ${select} FROM spans PREWHERE ${where.sql} ${limit}`,
      params: where.params,
      // Nobody can use a response with a thousand spans of megabytes each: it takes fewer rows or fields.
      settings: { max_result_bytes: storageLimits.pagePayloadBytes, result_overflow_mode: "throw" },
    },
    signal,
  );
  const [counts, { rows }] = await Promise.all([counting, finding]);
  if (counts === undefined || rows.length > (most ?? rows.length)) return { newest: new Map(), isAll: false };
  const isCounted = fields.some(isCountedColumn);
  const newest = new Map<string, StoredSpan>();
  for (const [key, row] of newestBy(rows, rowKeyText, (each) => String(each["version"]))) {
    if (Number(row["is_deleted"]) === 1) continue;
    const span = storedSpan(packing.unpack(row));
    newest.set(key, isCounted ? withCount(span, counts) : span);
  }
  return { newest, isAll: true };
}

/** The row with the highest version for each key. Versions are whole numbers as text. */
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

function rowKeyText(row: ResultRow): string {
  return `${String(row["timestamp"])} ${String(row["unique_id"])} ${String(row["environment"])}`;
}
