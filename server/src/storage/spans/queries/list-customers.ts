import { customerNumbers, type CustomerNumber } from "../../../domain/customer.ts";
import { maxTimeNs, minTimeNs } from "../../../lib/time.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type {
  CustomerPageKey,
  DescribeCustomersQuery,
  ListCustomersQuery,
  StoredCustomer,
} from "../customer-queries.ts";
import type { TimeWindow } from "../span-store.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { countedSpans, paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { allOf, partOf, scopeWhere } from "./selection.ts";
import { averageOf, isError, isUnpriced, isUsedUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

const numbers: Record<CustomerNumber, string> = {
  number_of_requests: "count()",
  total_tokens: sumOf(rowUsage.totalTokens),
  total_prompt_tokens: sumOf(rowUsage.promptTokens),
  total_completion_tokens: sumOf(rowUsage.completionTokens),
  total_cost: sumOfCost,
  unpriced_count: `countIf(${isUnpriced})`,
  error_count: `countIf(${isError})`,
  total_cache_hits: "countIf(ifNull(cache_hit, 0))",
  active_days: "uniqExact(toDate32(timestamp))",
  average_latency: averageOf("latency"),
  average_ttft: averageOf("time_to_first_token"),
  average_monthly_cost: `round(${sumOf(rowUsage.cost)} / uniqExact(toYYYYMM(timestamp)), 12)`,
};
const spanFigures: Readonly<Record<string, string>> = { ...numbers, last_active: "max(timestamp)" };
const profileFigures = { email: "email", name: "name", first_seen: "first_seen" };

const allTime: TimeWindow = { fromNs: minTimeNs, toNs: maxTimeNs };
const columns = "customer_identifier, environment";

/**
 * Reads only the copy of the profiles if neither order, filter nor window need spans; else joins the sums of all
 * customers.
 */
export async function listCustomers(
  database: SpanDatabase,
  query: ListCustomersQuery,
  signal?: AbortSignal,
): Promise<{ count: number; keys: CustomerPageKey[] }> {
  const { condition, sort, window } = query;
  const requested = [...new Set([sort.field, ...(condition?.figures ?? [])])].filter((name) => name in spanFigures);
  const needsSpans = requested.length > 0 || window !== undefined || (condition?.matches.length ?? 0) > 0;
  const parts = [
    partOf({ scope: query.scope, window: window ?? allTime, filter: condition?.where, edits: query.edits }),
  ];
  const profiles = allOf(scopeWhere(query.scope), condition?.where);
  const figures = requested.map((name) => `${spanFigures[name]} AS ${figureAlias(name)}`);
  const read = async (join: string) =>
    await database.query(
      {
        name: "list_customers",
        sql: `SELECT ${columns} FROM (SELECT ${[columns, ...selectFigures(profileFigures)].join(", ")}
            FROM customers FINAL WHERE ${profiles.sql}) AS profiles ${join}
          WHERE ${condition?.having.sql ?? "1"} ORDER BY ${orderOf(sort)}
          LIMIT ${query.pageSize} OFFSET ${(query.page - 1) * query.pageSize}`,
        params: { ...conditionParams(condition), ...profiles.params, ...paramsOfParts(parts) },
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
  const readJoined = async (once: Once, counts: Counts) => {
    const sums = `SELECT ${[columns, ...figures, ...groupMatches(condition)].join(", ")} FROM ${countedSpans(parts, once, counts)}
      WHERE customer_identifier != '' GROUP BY ${columns}`;
    return await read(`${window === undefined ? "LEFT" : "INNER"} JOIN (${sums}) AS sums USING (${columns})`);
  };
  const { rows, rowsBeforeLimit } = needsSpans
    ? await readOnce(database, { parts, counts: "all" }, readJoined, signal)
    : await read("");
  return { count: rowsBeforeLimit ?? rows.length, keys: rows.map(keyOf) };
}

function orderOf({ field, descending }: ListCustomersQuery["sort"]): string {
  const direction = descending ? "DESC" : "ASC";
  const key = `customer_identifier ${direction}, environment`;
  if (field === "customer_identifier") return key;
  const value = figureAlias(field);
  const absentLast = field === "email" || field === "name" ? `${value} = '', ` : "";
  return `${absentLast}${value} ${direction}, ${key}`;
}

/** Uses the index on customers: for one customer or a page of them. */
export async function describeCustomers(
  database: SpanDatabase,
  { scope, identifiers, window = allTime, periodFromNs }: DescribeCustomersQuery,
  signal?: AbortSignal,
): Promise<StoredCustomer[]> {
  if (identifiers.length === 0) return [];
  const parts = partsOf({ scope, window, identifiers });
  const inPeriod = "timestamp >= fromUnixTimestamp64Nano({period_ns:Int64}, 'UTC')";
  const period =
    periodFromNs === undefined
      ? { sql: "0", unpriced: "0", params: {} }
      : {
          sql: `round(ifNull(sumIf(${rowUsage.cost}, ${inPeriod}), 0), 12)`,
          unpriced: `countIf(${isUsedUnpriced} AND ${inPeriod})`,
          params: { period_ns: periodFromNs.toString() },
        };
  const select = [
    ...selectFigures(numbers),
    "min(timestamp) AS first",
    "max(timestamp) AS last",
    `${period.sql} AS ${figureAlias("period_cost")}`,
    `${period.unpriced} AS ${figureAlias("period_unpriced")}`,
    `countIf(${isUsedUnpriced}) AS ${figureAlias("total_unpriced")}`,
  ];
  const { own, inherited } = parts;
  const read = async (once: Once, counts: Counts) => {
    const spans = countedSpans(counts === "none" ? [own] : [own, inherited], once, counts);
    return await database.query(
      {
        name: "describe_customers",
        sql: `SELECT ${columns}, ${select.join(", ")} FROM ${spans} GROUP BY ${columns}`,
        params: { ...paramsOfParts([own, inherited]), ...period.params },
      },
      signal,
    );
  };
  const { rows } = await readOnce(database, { parts: [parts.range], counts: "all" }, read, signal);
  return rows.map((row) => ({
    ...keyOf(row),
    ...figuresOf(row, [...customerNumbers, "period_cost", "period_unpriced", "total_unpriced"]),
    first_timestamp: String(row["first"]),
    last_timestamp: String(row["last"]),
  }));
}

/**
 * `own`: spans that name one of the customers. `inherited`: spans that name none but count for one. Indexes find both.
 * `range`: everything that may decide what they count for.
 */
function partsOf({ scope, window = allTime, identifiers }: DescribeCustomersQuery) {
  const { where } = partOf({ scope, window });
  const params = { customers: identifiers };
  const named = "customer_identifier IN {customers:Array(String)}";
  const key = "toDate32(timestamp), organization_id, timestamp, unique_id";
  const counted = `SELECT ${key} FROM span_counts FINAL WHERE ${where.sql} AND ${named} AND is_inherited = 1`;
  return {
    // Applies to both tables: a count names whom its span counts for.
    own: { where: allOf(where, { sql: named, params }) },
    inherited: {
      where: allOf(where, { sql: `(${key}) GLOBAL IN (${counted})`, params }),
      filter: { sql: named, params },
    },
    range: { where },
  } satisfies Record<string, CountedPart>;
}

function keyOf(row: ResultRow): CustomerPageKey {
  return {
    customer_identifier: String(row["customer_identifier"]),
    // Only `prod` and `test` are ever stored.
    environment: String(row["environment"]) as CustomerPageKey["environment"],
  };
}
