import { contentColumns } from "../../../domain/span.ts";
import type { SpanCondition, StatementParams } from "../span-store.ts";
import { editedSpans, hasEdit, readsEdited, type SeenEdits } from "./edited-spans.ts";
import type { Once } from "./once.ts";
import type { Where } from "./selection.ts";

/**
 * What a statement has to know of the counts of spans. `none`: every span counts for its own values. `usage`: tokens
 * and cost. `all`: customers and threads too. `match`: customers and threads only in the filter.
 */
export type Counts = "none" | "usage" | "match" | "all";

/** Spans of one time range. `where` applies to spans and to their counts, so it only reads columns of both tables. */
export type CountedPart = {
  where: Where;
  filter?: SpanCondition | undefined;
  /** The fields whose edits the statement has to see. */
  edits?: SeenEdits | undefined;
  /** It may have very many spans. */
  isLarge?: boolean;
  /** Few rows match `where`: other columns are read only for them. */
  isSelective?: boolean;
};

/** The columns of `countedSpans` that say whom a span counts for. */
const identityColumns = ["customer_identifier", "thread_identifier"] as const;

/** Whether a condition depends on whom spans count for. */
export function readsIdentity(condition: SpanCondition | undefined): boolean {
  if (condition === undefined) return false;
  const { columns } = condition;
  return columns === undefined || identityColumns.some((column) => columns.has(column));
}

/**
 * The spans of several disjoint time ranges, as a source for FROM. It has the columns of spans, `counted_cost` and
 * `counts_tokens`. Customer and thread are those that a span counts for; `sent_customer_identifier` and
 * `sent_thread_identifier` are those that were sent.
 */
export function countedSpans(parts: readonly CountedPart[], once: Once, counts: Counts): string {
  const spansOf = (part: CountedPart): string => {
    if (counts === "none") return ownSpans(part, once);
    const matched = counts === "match" ? matchedSpans(part, once) : undefined;
    return matched ?? joinedSpans(part, once, counts === "usage" ? "usage" : "all");
  };
  return `(${parts.map(spansOf).join(" UNION ALL ")})`;
}

/**
 * The environments and customers that spans count for, each at least once, as a source for FROM. A span that names a
 * customer counts for that customer, so without a filter no join is needed.
 */
export function countedCustomers(part: CountedPart, once: Once, counts: Counts): string {
  if (part.filter !== undefined || counts === "none") return countedSpans([part], once, counts);
  const from = (table: string) => `SELECT environment, customer_identifier FROM ${table} WHERE ${part.where.sql}`;
  return `(${from(`spans ${once}`)} UNION ALL ${from("span_counts FINAL")})`;
}

export const paramsOfParts = (parts: readonly CountedPart[]): StatementParams =>
  Object.assign({}, ...parts.flatMap(({ where, filter }) => [where.params, filter?.params])) as StatementParams;

function ownSpans(part: CountedPart, once: Once): string {
  return statedSpans(part, once, ", cost AS counted_cost, toUInt8(1) AS counts_tokens");
}

/** Spans with their edits. Spans without edits are filtered before the join. */
function statedSpans(part: CountedPart, once: Once, more = ""): string {
  const { where, filter, edits = new Set(), isSelective = false } = part;
  const isLate = readsEdited(filter, edits);
  const early = filter !== undefined && isLate ? { ...filter, sql: `${filter.sql} OR ${hasEdit(edits)}` } : filter;
  // FINAL must see all rows of a key.
  const clause = isSelective && once === "" ? "PREWHERE" : "WHERE";
  const sent = `SELECT *, ${sentIdentity}${more} FROM spans ${once} ${clause} ${where.sql}${andFilter(early)}`;
  const edited = editedSpans(sent, edits);
  return isLate ? `SELECT * FROM (${edited}) WHERE ${filter?.sql ?? "1"}` : edited;
}

const sentIdentity = identityColumns.map((column) => `${column} AS sent_${column}`).join(", ");

const andFilter = (filter: SpanCondition | undefined) => (filter === undefined ? "" : ` AND (${filter.sql})`);

/** A filter that does not depend on whom spans count for is applied before the join, so fewer rows are joined. */
function joinedSpans(part: CountedPart, once: Once, counts: "usage" | "all"): string {
  const { where, filter, edits } = part;
  const isLate = readsIdentity(filter);
  const demanded = isLate ? demandOfIdentity(filter) : undefined;
  if (demanded !== undefined) return spansOfIdentity({ where, filter, edits }, once, demanded.demand);
  const spans = statedSpans({ where, edits, filter: isLate ? undefined : filter }, once);
  const identity = counts === "usage" ? "" : identityColumns.map((column) => `, ${column} AS count_${column}`).join("");
  const found = `SELECT timestamp, unique_id, toUInt8(1) AS is_counted, counts_tokens AS count_tokens, cost AS count_cost${identity}
    FROM span_counts FINAL ${isLate ? "" : timesOf(part)} WHERE ${where.sql}${counts === "usage" ? " AND changes_usage = 1" : ""}`;
  const joined = join(spans, found, counts);
  return isLate ? `SELECT * FROM (${joined}) WHERE ${filter?.sql ?? "1"}` : joined;
}

/**
 * Narrows the counts of a large part to the times of matching spans: joining those of all its spans takes longer, and
 * memory for each. Not if the filter reads content: evaluating it twice would take longer still.
 */
function timesOf({ where, filter, edits = new Set(), isLarge }: CountedPart): string {
  const columns = filter?.columns;
  if (isLarge !== true || columns === undefined || readsEdited(filter, edits)) return "";
  if (contentColumns.some((column) => columns.has(column))) return "";
  return `PREWHERE timestamp GLOBAL IN (SELECT timestamp FROM spans WHERE ${where.sql}${andFilter(filter)})`;
}

function join(spans: string, found: string, counts: "usage" | "all"): string {
  const replaced = identityColumns.map((column) => `if(is_counted = 1, count_${column}, ${column}) AS ${column}`);
  const columns = counts === "usage" ? "*" : `* REPLACE (${replaced.join(", ")})`;
  return `SELECT ${columns}, if(is_counted = 1, count_cost, cost) AS counted_cost, if(is_counted = 1, count_tokens, 1) AS counts_tokens
    FROM (${spans}) AS said GLOBAL ANY LEFT JOIN (${found}) AS found USING (timestamp, unique_id)`;
}

/** The conditions that a filter demands of identity columns only, and its other conditions. */
function demandOfIdentity(
  filter: SpanCondition | undefined,
): { demand: string; others: NonNullable<SpanCondition["operands"]> } | undefined {
  const names: readonly string[] = identityColumns;
  const operands = filter?.operands ?? [];
  const demands = operands.filter(
    ({ isDemand, columns }) => isDemand && [...columns].every((column) => names.includes(column)),
  );
  if (demands.length === 0) return undefined;
  const demand = `(${demands.map(({ sql }) => sql).join(" AND ")})`;
  return { demand, others: operands.filter((operand) => !demands.includes(operand)) };
}

const keysWhere = (table: string, where: string): string =>
  `(timestamp, unique_id) GLOBAL IN (SELECT timestamp, unique_id FROM ${table} WHERE ${where})`;

/**
 * The same for a filter that demands a customer or thread: joins only spans that name it, or that count for it in any
 * version of their count. Finds the newest of these few counts without FINAL, which would read the counts of all spans.
 */
function spansOfIdentity({ where, filter, edits }: CountedPart, once: Once, demand: string): string {
  const keysIn = (table: string) => keysWhere(table, `${where.sql} AND ${demand}`);
  const demanded = { ...where, sql: `${where.sql} AND (${demand} OR ${keysIn("span_counts")})` };
  const spans = statedSpans({ where: demanded, edits }, once);
  const newest = `SELECT timestamp, unique_id, argMax((is_deleted, counts_tokens, cost, customer_identifier, thread_identifier), version) AS newest
    FROM span_counts WHERE ${where.sql} AND (${keysIn("spans")} OR ${keysIn("span_counts")}) GROUP BY timestamp, unique_id`;
  const found = `SELECT timestamp, unique_id, toUInt8(1) AS is_counted, newest.2 AS count_tokens, newest.3 AS count_cost,
    newest.4 AS count_customer_identifier, newest.5 AS count_thread_identifier FROM (${newest}) WHERE newest.1 = 0`;
  return `SELECT * FROM (${join(spans, found, "all")}) WHERE ${filter?.sql ?? "1"}`;
}

/**
 * Selects the spans that match a filter by customer or thread, without a join. A span matches if it names the customer itself, or if
 * its newest count names the customer. Undefined if the filter needs the counts for more than that.
 */
function matchedSpans({ where, filter, edits }: CountedPart, once: Once): string | undefined {
  const demanded = demandOfIdentity(filter);
  if (filter === undefined || demanded === undefined) return undefined;
  const { demand, others } = demanded;
  const rest = { ...filter, sql: ["1", ...others.map(({ sql }) => sql)].join(" AND "), columns: columnsOf(others) };
  if (readsIdentity(rest)) return undefined;
  // A set of ids is searched twice as fast as one of keys, and times are compared faster still. A span that was sent again with
  // another end has no count at the former one.
  const named = `SELECT timestamp FROM span_counts PREWHERE ${demand} WHERE ${where.sql}`;
  const newest = `SELECT unique_id FROM span_counts PREWHERE timestamp GLOBAL IN (${named})
    WHERE organization_id = {organization_id:String} GROUP BY timestamp, unique_id HAVING argMax(is_deleted = 0 AND ${demand}, version)`;
  const matched = { ...where, sql: `(${demand} OR unique_id GLOBAL IN (${newest})) AND ${where.sql}` };
  return ownSpans({ where: matched, filter: rest, edits, isSelective: true }, once);
}

const columnsOf = (operands: NonNullable<SpanCondition["operands"]>): Set<string> =>
  new Set(operands.flatMap(({ columns }) => [...columns]));
