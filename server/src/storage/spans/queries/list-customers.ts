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
import { readOnce, type Once } from "./once.ts";
import { climbWithinCustomers, type RollUp } from "./roll-up.ts";
import { allOf, scopeWhere, spansOf, windowWhere, type Where } from "./selection.ts";
import { averageOf, isError, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

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

const readsUsage: ReadonlySet<string> = new Set<CustomerNumber>([
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
  "total_cost",
  "unpriced_count",
  "average_monthly_cost",
]);

const wholeTime: TimeWindow = { fromNs: minTimeNs, toNs: maxTimeNs };
const named: Where = { sql: "customer_identifier != ''", params: {} };
const columns = "customer_identifier, environment";

/**
 * From the copy of the profiles alone, as long as neither order nor filter ask for what spans say; else over the sums of
 * all customers.
 */
export async function listCustomers(
  database: SpanDatabase,
  query: ListCustomersQuery,
  signal?: AbortSignal,
): Promise<{ count: number; keys: CustomerPageKey[] }> {
  const { condition, sort, window } = query;
  const asked = [...new Set([sort.field, ...(condition?.figures ?? [])])].filter((name) => name in spanFigures);
  const needsSpans = asked.length > 0 || window !== undefined || (condition?.matches.length ?? 0) > 0;
  const all = allOf(scopeWhere(query.scope), windowWhere(window ?? wholeTime));
  // A wrapper whose children do not name the customer speaks for them.
  const ofCustomers = allOf(all, named);
  const where = allOf(ofCustomers, condition?.where);
  const profiles = allOf(scopeWhere(query.scope), condition?.where);
  const figures = asked.map((name) => `${spanFigures[name]} AS ${figureAlias(name)}`);
  const read = async (join: string, usage: Pick<RollUp, "with">) =>
    await database.query(
      {
        name: "list_customers",
        sql: `${usage.with} SELECT ${columns} FROM (SELECT ${[columns, ...selectFigures(profileFigures)].join(", ")}
            FROM customers FINAL WHERE ${profiles.sql}) AS profiles ${join}
          WHERE ${condition?.having.sql ?? "1"} ORDER BY ${orderOf(sort)}
          LIMIT ${query.pageSize} OFFSET ${(query.page - 1) * query.pageSize}`,
        params: { ...conditionParams(condition), ...where.params },
        settings: { exact_rows_before_limit: 1 },
      },
      signal,
    );
  const readJoined = async (once: Once, usage: RollUp) => {
    const spans = usage.of(spansOf([where], once));
    const sums = `SELECT ${[columns, ...figures, ...groupMatches(condition)].join(", ")} FROM ${spans} GROUP BY ${columns}`;
    return await read(`${window === undefined ? "LEFT" : "INNER"} JOIN (${sums}) AS sums USING (${columns})`, usage);
  };
  const summed = asked.some((name) => readsUsage.has(name))
    ? { summed: [ofCustomers], rollUp: climbWithinCustomers }
    : {};
  const { rows, rowsBeforeLimit } = needsSpans
    ? await readOnce(database, { all: [all], ...summed }, readJoined, signal)
    : await read("", { with: "" });
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

/** Found by the index on customers: for a page of them, or one. */
export async function describeCustomers(
  database: SpanDatabase,
  { scope, identifiers, window = wholeTime, periodFromNs }: DescribeCustomersQuery,
  signal?: AbortSignal,
): Promise<StoredCustomer[]> {
  if (identifiers.length === 0) return [];
  const all = allOf(scopeWhere(scope), windowWhere(window));
  const where = allOf(all, {
    sql: "customer_identifier IN {customers:Array(String)}",
    params: { customers: identifiers },
  });
  const inPeriod = "timestamp >= fromUnixTimestamp64Nano({period_ns:Int64}, 'UTC')";
  const period =
    periodFromNs === undefined
      ? { sql: "0", params: {} }
      : {
          sql: `round(ifNull(sumIf(${rowUsage.cost}, ${inPeriod}), 0), 12)`,
          params: { period_ns: periodFromNs.toString() },
        };
  const select = [
    ...selectFigures(numbers),
    "min(timestamp) AS first",
    "max(timestamp) AS last",
    `${period.sql} AS ${figureAlias("period_cost")}`,
  ];
  const read = async (once: Once, usage: RollUp) =>
    await database.query(
      {
        name: "describe_customers",
        sql: `${usage.with} SELECT ${columns}, ${select.join(", ")} FROM ${usage.of(spansOf([where], once))} GROUP BY ${columns}`,
        params: { ...where.params, ...period.params },
      },
      signal,
    );
  const { rows } = await readOnce(
    database,
    { all: [all], summed: [where], rollUp: climbWithinCustomers },
    read,
    signal,
  );
  return rows.map((row) => ({
    ...keyOf(row),
    ...figuresOf(row, [...customerNumbers, "period_cost"]),
    first_timestamp: String(row["first"]),
    last_timestamp: String(row["last"]),
  }));
}

function keyOf(row: ResultRow): CustomerPageKey {
  return {
    customer_identifier: String(row["customer_identifier"]),
    // Only `prod` and `test` are ever stored.
    environment: String(row["environment"]) as CustomerPageKey["environment"],
  };
}
