import { isCountedColumn, type CountedColumn, type ReadColumn, type SpanColumn } from "../../../domain/span.ts";
import { fromByteString } from "../../../lib/byte-string.ts";
import type { RawRows, SpanDatabase } from "../drivers/span-database.ts";
import { rawPlace, type RawSpan } from "../raw-span.ts";
import type { StoredSpan } from "../span-store.ts";
import { mayHaveRows } from "./has-rows.ts";
import type { Where } from "./selection.ts";

/**
 * What a span counts for, if that differs from its own values; customer and thread only if requested. Values are JSON
 * texts as the engine wrote them, because large reads pass them on unchanged.
 */
type StoredCount = { countsTokens: boolean; cost: string; customer: string | undefined; thread: string | undefined };

/** Counts by the time and id of their spans. */
type StoredCounts = ReadonlyMap<string, StoredCount>;

const noCounts: StoredCounts = new Map();

/** The columns that must be read to add the counted columns, without duplicates. */
export function storedColumns(columns: readonly ReadColumn[]): SpanColumn[] {
  const stored = columns.filter((column): column is SpanColumn => !isCountedColumn(column));
  return stored.length === columns.length ? stored : [...new Set([...stored, ...basis])];
}

const ownValues: Record<CountedColumn, SpanColumn> = {
  counted_cost: "cost",
  counted_tokens: "total_tokens",
  counted_customer_identifier: "customer_identifier",
  counted_thread_identifier: "thread_identifier",
};

const basis = ["timestamp", "unique_id", ...Object.values(ownValues)] as const satisfies readonly SpanColumn[];

/**
 * The counts of the spans of `where`, which only reads columns of both tables. Without FINAL, which needs the time
 * range of the spans: takes the newest row of each key. Empty if no counted column is requested.
 */
export async function readCounts(
  database: SpanDatabase,
  where: Where,
  columns: readonly ReadColumn[],
  signal?: AbortSignal,
): Promise<StoredCounts> {
  const rows = await queryCounts(database, where, columns, signal);
  return rows === undefined ? noCounts : newestCounts(rows);
}

/** The same, but undefined if there are more rows than `most`. */
export async function readFewCounts(
  database: SpanDatabase,
  where: Where,
  { columns, most }: { columns: readonly ReadColumn[]; most: number },
  signal?: AbortSignal,
): Promise<StoredCounts | undefined> {
  const rows = await queryCounts(database, where, columns, signal, `LIMIT ${most + 1}`);
  if (rows === undefined) return noCounts;
  return rows.size > most ? undefined : newestCounts(rows);
}

async function queryCounts(
  database: SpanDatabase,
  where: Where,
  columns: readonly ReadColumn[],
  signal?: AbortSignal,
  limit = "",
): Promise<RawRows | undefined> {
  const organization = String(where.params["organization_id"]);
  if (!columns.some(isCountedColumn) || !(await mayHaveRows(database, "counts", organization, signal)))
    return undefined;
  const identity = columns.some((column) => identityColumns.has(column))
    ? ", customer_identifier, thread_identifier"
    : "";
  return await database.queryRaw(
    {
      name: "span_counts",
      sql: `SELECT timestamp, unique_id, version, is_deleted, counts_tokens, cost${identity} FROM span_counts PREWHERE ${where.sql} ${limit}`,
      params: where.params,
    },
    signal,
  );
}

/** A trace may have very many counts, so values are only parsed if needed. */
function newestCounts(rows: Iterable<RawSpan>): StoredCounts {
  const newest = new Map<string, StoredCount & { version: string; isDeleted: boolean }>();
  let hasDeleted = false;
  for (const [time, id, version = "", deleted, countsTokens, cost = "null", customer, thread] of rows) {
    const key = keyOf(unquoted(time), unquoted(id));
    const before = newest.get(key);
    if (before !== undefined && BigInt(unquoted(before.version)) > BigInt(unquoted(version))) continue;
    const isDeleted = deleted === "1";
    hasDeleted ||= isDeleted;
    newest.set(key, { version, isDeleted, countsTokens: countsTokens === "1", cost, customer, thread });
  }
  if (hasDeleted) for (const [key, { isDeleted }] of newest) if (isDeleted) newest.delete(key);
  return newest;
}

const parsedText = (json: string): string => JSON.parse(fromByteString(json)) as string;

const identityColumns: ReadonlySet<ReadColumn> = new Set(["counted_customer_identifier", "counted_thread_identifier"]);

const keyOf = (timestamp: string, uniqueId: string): string => `${timestamp} ${uniqueId}`;

/**
 * Columns of spans in their order, counted ones included, as a statement that joins the counts of `counts`; spans count
 * for themselves if that is undefined. `spans` is a source for FROM.
 */
export function selectCounted(columns: readonly ReadColumn[], spans: string, counts: Where | undefined): string {
  const valueOf = (column: ReadColumn) =>
    isCountedColumn(column)
      ? `${counts === undefined ? ownValues[column] : joinedValues[column]} AS ${column}`
      : column;
  const select = `SELECT ${columns.map(valueOf).join(", ")} FROM ${spans}`;
  if (counts === undefined) return select;
  const identity = columns.some((column) => identityColumns.has(column))
    ? ", customer_identifier AS count_customer, thread_identifier AS count_thread"
    : "";
  const found = `SELECT timestamp, unique_id, toUInt8(1) AS is_counted, counts_tokens AS count_tokens, cost AS count_cost${identity}
    FROM span_counts FINAL WHERE ${counts.sql}`;
  return `${select} AS said GLOBAL ANY LEFT JOIN (${found}) AS found USING (timestamp, unique_id)`;
}

const joinedValues: Record<CountedColumn, string> = {
  counted_cost: "if(is_counted = 1, count_cost, cost)",
  counted_tokens: "if(is_counted = 1 AND count_tokens = 0, 0, total_tokens)",
  counted_customer_identifier: "if(is_counted = 1, count_customer, customer_identifier)",
  counted_thread_identifier: "if(is_counted = 1, count_thread, thread_identifier)",
};

/** Adds the counted columns to a span that was read with `storedColumns`. */
export function withCount(span: StoredSpan, counts: StoredCounts): StoredSpan {
  const count = counts.get(keyOf(span.timestamp, span.unique_id));
  const { cost = null, total_tokens = null, customer_identifier = "", thread_identifier = "" } = span;
  span.counted_cost = count === undefined ? cost : (JSON.parse(count.cost) as number | null);
  span.counted_tokens = count?.countsTokens === false ? 0 : total_tokens;
  if (count === undefined) {
    span.counted_customer_identifier = customer_identifier;
    span.counted_thread_identifier = thread_identifier;
    return span;
  }
  if (count.customer !== undefined) span.counted_customer_identifier = parsedText(count.customer);
  if (count.thread !== undefined) span.counted_thread_identifier = parsedText(count.thread);
  return span;
}

/** Makes rows of `columns` from raw spans that were read with `storedColumns` of them. */
export function rawCounter(columns: readonly ReadColumn[], counts: StoredCounts): (span: RawSpan) => RawSpan {
  if (!columns.some(isCountedColumn)) return (span) => span;
  const stored = storedColumns(columns);
  const at = (column: SpanColumn) => rawPlace(stored, column);
  const [time, id] = [at("timestamp"), at("unique_id")];
  const own: Record<CountedColumn, number> = {
    counted_cost: at("cost"),
    counted_tokens: at("total_tokens"),
    counted_customer_identifier: at("customer_identifier"),
    counted_thread_identifier: at("thread_identifier"),
  };
  const counted: Record<CountedColumn, (count: StoredCount) => string | undefined> = {
    counted_cost: ({ cost }) => cost,
    counted_tokens: ({ countsTokens }) => (countsTokens ? undefined : "0"),
    counted_customer_identifier: ({ customer }) => customer ?? '""',
    counted_thread_identifier: ({ thread }) => thread ?? '""',
  };
  const places = columns.map((column) => (isCountedColumn(column) ? own[column] : at(column)));
  const changes = columns.flatMap((column, index) => (isCountedColumn(column) ? [{ index, of: counted[column] }] : []));
  return (span) => {
    const row = places.map((place) => span[place] ?? "null");
    const count = counts.size === 0 ? undefined : counts.get(keyOf(unquoted(span[time]), unquoted(span[id])));
    if (count === undefined) return row;
    for (const { index, of } of changes) {
      const value = of(count);
      if (value !== undefined) row[index] = value;
    }
    return row;
  };
}

const unquoted = (json = '""'): string => json.slice(1, -1);
