import type { SpanColumn } from "../../../domain/span.ts";
import { limits } from "../../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ListSpansQuery, SpanKey, SpanSort, SpanSortField, StoredSpan } from "../span-store.ts";
import { hydrateSpans } from "./hydrate-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { allOf, selectionWhere, withoutFilter } from "./selection.ts";
import type { Where } from "./selection.ts";

/** Ids first, from key columns alone; then one page by primary key. Payload is read for that page only. */
export async function listSpans(
  database: SpanDatabase,
  query: ListSpansQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: StoredSpan[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const { count, rows, isWhole } = await readPage(database, query, signal);
    // Of a span that was sent again between finding and reading it, the key may be gone: look once more.
    if (isWhole || attempt >= limits.movedReadAttempts) return { count, rows };
  }
}

async function readPage(
  database: SpanDatabase,
  query: ListSpansQuery,
  signal?: AbortSignal,
): Promise<{ count: number; rows: StoredSpan[]; isWhole: boolean }> {
  const find = async (once: Once): Promise<IdPage> =>
    isSliceable(query) ? await sliceIds(database, query, once, signal) : await scanIds(database, query, once, signal);
  const page = await readOnce(database, { all: [withoutFilter(query)] }, find, signal);
  const rows = await hydrateSpans(database, query.scope, page.keys, query.fields, signal);
  return { count: page.count, rows, isWhole: rows.length === page.keys.length };
}

type IdPage = { count: number; keys: SpanKey[] };

const sortColumns: Record<SpanSortField, SpanColumn> = {
  timestamp: "timestamp",
  id: "unique_id",
  unique_id: "unique_id",
  start_time: "start_time",
  cost: "cost",
  latency: "latency",
  time_to_first_token: "time_to_first_token",
  tokens_per_second: "tokens_per_second",
  prompt_tokens: "prompt_tokens",
  completion_tokens: "completion_tokens",
  total_tokens: "total_tokens",
  all_tokens: "total_tokens",
  total_request_tokens: "total_tokens",
  status_code: "status_code",
  model: "model",
  customer_identifier: "customer_identifier",
};

// '' is absent in text columns and must come last too. UUIDs do not compare as their text does.
const sortExpressions: Partial<Record<SpanColumn, string>> = {
  unique_id: "toString(unique_id)",
  model: "nullIf(model, '')",
  customer_identifier: "nullIf(customer_identifier, '')",
};

function orderBy({ field, descending, score }: SpanSort): string {
  const direction = descending ? "DESC" : "ASC";
  const column = sortColumns[field];
  const ties = [
    `toDate32(timestamp) ${direction}`,
    `timestamp ${direction}`,
    `unique_id ${direction}`,
    `environment ${direction}`,
  ];
  const first = column === "timestamp" ? [] : [`${sortExpressions[column] ?? column} ${direction} NULLS LAST`];
  const scores = ["score_value", "score_text"].map((name) => `${name} ${direction} NULLS LAST`);
  return [...(score === undefined ? [] : scores), ...first, ...ties].join(", ");
}

const idColumns = "timestamp, unique_id, environment, version";

function pageIds(where: Where, query: ListSpansQuery, once: Once): string {
  const offset = (query.page - 1) * query.pageSize;
  const from = query.sort.score === undefined ? `spans ${once}` : `spans ${once} ${joinedScores}`;
  return `SELECT ${idColumns} FROM ${from} WHERE ${where.sql} ORDER BY ${orderBy(query.sort)} LIMIT ${query.pageSize} OFFSET ${offset}`;
}

const joinedScores = `GLOBAL ANY LEFT JOIN (
    SELECT unique_id AS scored_id, value AS score_value, nullIf(text, '') AS score_text FROM scores FINAL
    WHERE organization_id = {organization_id:String} AND (evaluator_id = {evaluator:String} OR evaluator_slug = {evaluator:String})
  ) AS scored ON unique_id = scored_id`;

/** One pass gives the page and the count, which is what a filter or another order needs anyway. */
async function scanIds(
  database: SpanDatabase,
  query: ListSpansQuery,
  once: Once,
  signal?: AbortSignal,
): Promise<IdPage> {
  const { score } = query.sort;
  const where = allOf(
    selectionWhere(query),
    score === undefined ? undefined : { sql: "1", params: { evaluator: score } },
  );
  const { rows, rowsBeforeLimit } = await database.query(
    {
      name: "list_ids",
      sql: pageIds(where, query, once),
      params: where.params,
      // Where rows are read in order the engine stops early, and calls what it has seen by then exact.
      settings: { exact_rows_before_limit: 1, optimize_read_in_order: 0 },
    },
    signal,
  );
  return { count: rowsBeforeLimit ?? rows.length, keys: rows as SpanKey[] };
}

function isSliceable(query: ListSpansQuery): boolean {
  return (
    query.filter === undefined &&
    query.sort.field === "timestamp" &&
    query.sort.score === undefined &&
    query.page * query.pageSize <= limits.spanSlicedListRows
  );
}

/** The usual list: by time, unfiltered, near one end of the window. Counting needs no more than the index. */
async function sliceIds(
  database: SpanDatabase,
  query: ListSpansQuery,
  once: Once,
  signal?: AbortSignal,
): Promise<IdPage> {
  const where = selectionWhere(query);
  const counting = database.query(
    { name: "list_count", sql: `SELECT count() AS count FROM spans ${once} WHERE ${where.sql}`, params: where.params },
    signal,
  );
  const finding = once === "" ? keysOf(database, query, once, signal) : sliceKeys(database, query, where, signal);
  const [counted, keys] = await Promise.all([counting, finding]);
  return { count: Number(counted.rows[0]?.["count"] ?? 0), keys };
}

/**
 * FINAL cannot stop early, so a plain read in key order, which can, finds the slice of time that holds the page, and FINAL
 * has only that slice to look at.
 */
async function sliceKeys(
  database: SpanDatabase,
  query: ListSpansQuery,
  where: Where,
  signal?: AbortSignal,
): Promise<SpanKey[]> {
  const direction = query.sort.descending ? "DESC" : "ASC";
  // Rows of spans that were sent again count twice here; some are allowed for.
  const reach = query.page * query.pageSize + spareRows;
  const bound = await database.query(
    {
      name: "list_bound",
      sql: `SELECT toUnixTimestamp64Nano(timestamp) AS bound FROM spans WHERE ${where.sql}
        ORDER BY toDate32(timestamp) ${direction}, timestamp ${direction} LIMIT 1 OFFSET ${reach}`,
      params: where.params,
    },
    signal,
  );
  const boundNs = bound.rows[0]?.["bound"];
  const isBound = typeof boundNs === "string";
  const slice = isBound ? { ...query, window: cutWindow(query, BigInt(boundNs)) } : query;
  const keys = await keysOf(database, slice, "FINAL", signal);
  const isShort = isBound && keys.length < query.pageSize;
  return isShort ? await keysOf(database, query, "FINAL", signal) : keys;
}

const spareRows = 64;

function cutWindow({ window, sort }: ListSpansQuery, boundNs: bigint) {
  return sort.descending ? { ...window, fromNs: boundNs } : { ...window, toNs: boundNs };
}

async function keysOf(
  database: SpanDatabase,
  query: ListSpansQuery,
  once: Once,
  signal?: AbortSignal,
): Promise<SpanKey[]> {
  const where = selectionWhere(query);
  const sql = pageIds(where, query, once);
  const { rows } = await database.query({ name: "list_ids", sql, params: where.params }, signal);
  return rows as SpanKey[];
}
