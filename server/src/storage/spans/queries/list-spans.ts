import { parseTimeNs } from "../../../lib/time.ts";
import { storageLimits } from "../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { ListSpansQuery, SpanPage, SpanPlace, SpanSort } from "../span-list.ts";
import type { SpanKey, TimeWindow } from "../span-store.ts";
import { countedSpans, readsIdentity, type Counts } from "./counted-spans.ts";
import { hydrateSpans } from "./hydrate-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { allOf, partOf } from "./selection.ts";
import { followingWhere, orderBy, placeColumns, placeOf, sortParams } from "./span-order.ts";
import type { Where } from "./selection.ts";

/**
 * Finds the ids first, from key columns only, then reads one page by primary key, so payload is read for that page
 * only.
 */
export async function listSpans(
  database: SpanDatabase,
  query: ListSpansQuery,
  signal?: AbortSignal,
): Promise<SpanPage> {
  for (let attempt = 1; ; attempt += 1) {
    const { isWhole, ...page } = await readPage(database, query, signal);
    // A span that was resent between finding and reading it may have another key now: try again.
    if (isWhole || attempt >= storageLimits.movedReadAttempts) return page;
  }
}

async function readPage(
  database: SpanDatabase,
  query: ListSpansQuery,
  signal?: AbortSignal,
): Promise<SpanPage & { isWhole: boolean }> {
  const find = async (once: Once, counts: Counts): Promise<IdPage> =>
    isSliceable(query)
      ? await sliceIds(database, query, once, signal)
      : await scanIds(database, query, { once, counts }, signal);
  const isFiltered = readsIdentity(query.filter);
  const counts = query.sort.field === "customer_identifier" ? "all" : isFiltered ? "match" : "none";
  const { count, found } = await readOnce(database, { parts: [partOf(query)], counts }, find, signal);
  const keys = found.slice(0, query.pageSize) as SpanKey[];
  const rows = await hydrateSpans(database, query.scope, keys, query.fields, signal);
  return { count, rows, next: placeBehind(query, found), isWhole: rows.length === keys.length };
}

/** One row more than the page shows whether others follow. */
function placeBehind({ pageSize, sort }: ListSpansQuery, found: readonly ResultRow[]): SpanPlace | undefined {
  const last = found[pageSize - 1];
  return found.length > pageSize && last !== undefined ? placeOf(last, sort) : undefined;
}

/** The keys of a page and of the row after it. */
type IdPage = { count: number; found: ResultRow[] };

const idColumns = "timestamp, unique_id, environment, version";

function offsetOf({ after, page, pageSize }: ListSpansQuery): number {
  return after === undefined ? (page - 1) * pageSize : 0;
}

/** The source of a page: the selection after the position where the page begins. */
function pagedFrom(query: ListSpansQuery, { once, counts }: SeenAs): Where {
  const { after } = query;
  const window = after === undefined ? query.window : windowBehind(after, query);
  const part = partOf({ ...query, window });
  const { where, filter, edits } = part;
  const behind = after === undefined ? undefined : followingWhere(query.sort, after);
  const params = { ...where.params, ...filter?.params, ...behind?.params };
  if (counts === "none" && query.sort.score === undefined && !edits?.size) {
    const all = allOf(where, filter && { ...filter, sql: `(${filter.sql})` }, behind);
    return { sql: `spans ${once} WHERE ${all.sql}`, params };
  }
  const spans = countedSpans([part], once, counts);
  const scores = query.sort.score === undefined ? "" : joinedScores;
  return { sql: `${spans} AS spans ${scores} WHERE ${behind?.sql ?? "1"}`, params };
}

/** How a statement reads spans. */
type SeenAs = { once: Once; counts: Counts };

/** In the order of time, the rows after a position are a part of the window, which the primary key finds. */
function windowBehind({ timestamp }: SpanPlace, { window, sort }: ListSpansQuery): TimeWindow {
  const boundNs = isByTime(sort) ? parseTimeNs(timestamp) : undefined;
  if (boundNs === undefined) return window;
  return sort.descending ? { ...window, toNs: boundNs } : { ...window, fromNs: boundNs };
}

const isByTime = ({ field, score, metadata }: SpanSort): boolean =>
  field === "timestamp" && score === undefined && metadata === undefined;

function pageIds(from: Where, query: ListSpansQuery): string {
  const columns = [idColumns, ...placeColumns(query.sort)].join(", ");
  return `SELECT ${columns} FROM ${from.sql} ORDER BY ${orderBy(query.sort)} LIMIT ${query.pageSize + 1} OFFSET ${offsetOf(query)}`;
}

const joinedScores = `GLOBAL ANY LEFT JOIN (
    SELECT unique_id AS scored_id, value AS score_value, nullIf(text, '') AS score_text FROM scores FINAL
    WHERE organization_id = {organization_id:String} AND (evaluator_id = {evaluator:String} OR evaluator_slug = {evaluator:String})
  ) AS scored ON unique_id = scored_id`;

async function countOf(
  database: SpanDatabase,
  query: ListSpansQuery,
  seenAs: SeenAs,
  signal?: AbortSignal,
): Promise<number> {
  const { after: _after, ...whole } = query;
  const from = pagedFrom({ ...whole, sort: { field: "timestamp", descending: true } }, seenAs);
  const sql = `SELECT count() AS count FROM ${from.sql}`;
  const { rows } = await database.query({ name: "list_count", sql, params: from.params }, signal);
  return Number(rows[0]?.["count"] ?? 0);
}

/** Reads the page and the count in one pass over the spans, which a filter or another order needs anyway. */
async function scanIds(
  database: SpanDatabase,
  query: ListSpansQuery,
  seenAs: SeenAs,
  signal?: AbortSignal,
): Promise<IdPage> {
  const from = pagedFrom(query, seenAs);
  const counting = query.after === undefined ? undefined : countOf(database, query, seenAs, signal);
  const finding = database.query(
    {
      name: "list_ids",
      sql: pageIds(from, query),
      params: { ...from.params, ...sortParams(query.sort) },
      // If it reads in order, the engine stops early and reports the count so far as exact.
      settings: { exact_rows_before_limit: 1, optimize_read_in_order: 0 },
    },
    signal,
  );
  const [{ rows, rowsBeforeLimit }, counted] = await Promise.all([finding, counting]);
  return { count: counted ?? rowsBeforeLimit ?? rows.length, found: rows };
}

function isSliceable(query: ListSpansQuery): boolean {
  return (
    query.filter === undefined &&
    isByTime(query.sort) &&
    offsetOf(query) + query.pageSize <= storageLimits.spanSlicedListRows
  );
}

/** Reads the usual list: by time, without a filter, near one end of the window. Its count only needs the index. */
async function sliceIds(
  database: SpanDatabase,
  query: ListSpansQuery,
  once: Once,
  signal?: AbortSignal,
): Promise<IdPage> {
  const finding = once === "" ? keysOf(database, query, once, signal) : sliceKeys(database, query, signal);
  const [counted, found] = await Promise.all([countOf(database, query, { once, counts: "none" }, signal), finding]);
  return { count: countBeside(found, query, counted), found };
}

/** Spans may come in between the two reads. A page that is not full is the last one, and determines the count. */
function countBeside(found: readonly ResultRow[], query: ListSpansQuery, counted: number): number {
  const seen = offsetOf(query) + found.length;
  const isLast = found.length <= query.pageSize && (found.length > 0 || seen === 0);
  return isLast && query.after === undefined ? seen : Math.max(counted, found.length === 0 ? 0 : seen);
}

/**
 * FINAL cannot stop early. So a plain read in key order, which can, finds the time slice of the page, and FINAL reads
 * only that slice.
 */
async function sliceKeys(database: SpanDatabase, query: ListSpansQuery, signal?: AbortSignal): Promise<ResultRow[]> {
  const from = pagedFrom(query, { once: "", counts: "none" });
  const direction = query.sort.descending ? "DESC" : "ASC";
  // Resent spans count more than once here; the spare rows allow for some.
  const reach = offsetOf(query) + query.pageSize + spareRows;
  const bound = await database.query(
    {
      name: "list_bound",
      sql: `SELECT toUnixTimestamp64Nano(timestamp) AS bound FROM ${from.sql}
        ORDER BY toDate32(timestamp) ${direction}, timestamp ${direction} LIMIT 1 OFFSET ${reach}`,
      params: from.params,
    },
    signal,
  );
  const boundNs = bound.rows[0]?.["bound"];
  const isBound = typeof boundNs === "string";
  const slice = isBound ? { ...query, window: narrowWindow(query, BigInt(boundNs)) } : query;
  const keys = await keysOf(database, slice, "FINAL", signal);
  const isShort = isBound && keys.length <= query.pageSize;
  return isShort ? await keysOf(database, query, "FINAL", signal) : keys;
}

const spareRows = 64;

function narrowWindow({ window, sort }: ListSpansQuery, boundNs: bigint) {
  return sort.descending ? { ...window, fromNs: boundNs } : { ...window, toNs: boundNs };
}

async function keysOf(
  database: SpanDatabase,
  query: ListSpansQuery,
  once: Once,
  signal?: AbortSignal,
): Promise<ResultRow[]> {
  const from = pagedFrom(query, { once, counts: "none" });
  const sql = pageIds(from, query);
  return (await database.query({ name: "list_ids", sql, params: from.params }, signal)).rows;
}
