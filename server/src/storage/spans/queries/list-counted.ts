import type { CustomerKey } from "../../../domain/customer.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { CountedName, TracesQuery } from "../usage-facts.ts";
import { allOf, scopeWhere } from "./selection.ts";

const name = "environment, trace_unique_id, if(trace_unique_id = '', toString(unique_id), '') AS unique_id";

/** Traces with a span that counts for the customer, and such spans without a trace; at most `limit`. */
export async function listCountedOf(
  database: SpanDatabase,
  { organization_id, environment, customer_identifier }: CustomerKey,
  limit: number,
  signal?: AbortSignal,
): Promise<CountedName[]> {
  const where = allOf(scopeWhere({ organization_id, environment }), {
    sql: "customer_identifier = {customer:String}",
    params: { customer: customer_identifier },
  });
  const sql = `SELECT DISTINCT ${name} FROM (SELECT * FROM span_counts FINAL WHERE ${where.sql}) LIMIT ${limit}`;
  const { rows } = await database.query({ name: "list_counted", sql, params: where.params }, signal);
  return rows.map(nameOf);
}

/**
 * Traces and spans of an organization that may count for other than their own values: one of `parts` parts of about
 * equal size.
 */
export async function listTraceNames(
  database: SpanDatabase,
  { organizationId, part, parts }: TracesQuery,
  signal?: AbortSignal,
): Promise<CountedName[]> {
  const where = allOf(scopeWhere({ organization_id: organizationId }), {
    sql: "cityHash64(trace_unique_id) % {parts:UInt32} = {part:UInt32} AND is_deleted = 0",
    params: { part: String(part), parts: String(parts) },
  });
  const { rows } = await database.query(
    {
      name: "list_trace_names",
      sql: `SELECT DISTINCT ${name} FROM spans WHERE ${where.sql} AND (trace_unique_id != '' OR gateway_log_id != '')
        UNION DISTINCT SELECT DISTINCT ${name} FROM span_counts WHERE ${where.sql}`,
      params: where.params,
    },
    signal,
  );
  return rows.map(nameOf);
}

/** The approximate number of traces of an organization. */
export async function countTraceNames(database: SpanDatabase, organizationId: string): Promise<number> {
  const sql = "SELECT uniq(trace_unique_id) AS traces FROM spans WHERE organization_id = {organization_id:String}";
  const { rows } = await database.query({ name: "list_trace_names", sql, params: { organization_id: organizationId } });
  return Number(rows[0]?.["traces"] ?? 0);
}

function nameOf(row: Record<string, unknown>): CountedName {
  return {
    environment: String(row["environment"]),
    trace_unique_id: String(row["trace_unique_id"]),
    unique_id: String(row["unique_id"]),
  };
}
