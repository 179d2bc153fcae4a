import { contentColumns, gatewayLogMethod, type SpanColumn } from "../../../domain/span.ts";
import { storageLimits } from "../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import {
  deletionVersion,
  type DeletedSpan,
  type StoredFact,
  type StoredUsage,
  type StoredUsageCount,
  type UsageFactsQuery,
} from "../usage-facts.ts";
import { newestBy } from "./hydrate-spans.ts";
import { allOf, scopeWhere } from "./selection.ts";

const columns = [
  "environment",
  "timestamp",
  "unique_id",
  "version",
  "is_deleted",
  "trace_unique_id",
  "received_at",
  "start_time",
  "span_unique_id",
  "span_parent_id",
  "log_type",
  "log_method",
  "status",
  "status_code",
  "model",
  "response_id",
  "gateway_log_id",
  "scope_name",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cost",
  "cost_source",
  "customer_identifier",
  "thread_identifier",
] as const satisfies readonly SpanColumn[];

/**
 * Reads the facts that decide what spans count for, and their stored counts. Without FINAL, which needs the time range
 * of the spans: takes the newest row of each key. At most `storageLimits.countedTraceSpans` rows of each.
 */
export async function readUsageFacts(
  database: SpanDatabase,
  { organizationId, by, ids }: UsageFactsQuery,
  signal?: AbortSignal,
): Promise<StoredUsage> {
  const type = by === "unique_id" ? "Array(UUID)" : "Array(String)";
  const scope = scopeWhere({ organization_id: organizationId });
  const chosen = allOf(scope, { sql: `${by} IN {ids:${type}}`, params: { ids } });
  // A newer version of a span may no longer name a call, so all of its versions are read.
  const where =
    by === "gateway_log_id"
      ? allOf(scope, {
          sql: `unique_id GLOBAL IN (SELECT unique_id FROM spans WHERE ${chosen.sql})`,
          params: chosen.params,
        })
      : chosen;
  const limit = `LIMIT ${storageLimits.countedTraceSpans}`;
  const read = (sql: string) => database.query({ name: "usage_facts", sql, params: where.params }, signal);
  const clock = await read("SELECT toString(toUnixTimestamp64Nano(now64(9, 'UTC'))) AS ns");
  const hasContent = contentColumns.map((column) => `${column}.size > 0`).join(" OR ");
  const [facts, counts] = await Promise.all([
    read(`SELECT ${columns.join(", ")}, (${hasContent}) AS has_content FROM spans WHERE ${where.sql} ${limit}`),
    by === "gateway_log_id"
      ? undefined
      : read(`SELECT environment, timestamp, unique_id, version, is_deleted, trace_unique_id, counts_tokens, cost, customer_identifier, thread_identifier, changes_usage, is_inherited
          FROM span_counts WHERE ${where.sql} ${limit}`),
  ]);
  return {
    facts: newest(facts.rows)
      .map(factOf)
      .filter((fact) => by !== "gateway_log_id" || ids.includes(fact.gateway_log_id)),
    deleted: facts.rows.filter((row) => text(row, "version") === lastVersion).map(deletedOf),
    counts: newest(counts?.rows ?? []).map(countOf),
    readAtNs: BigInt(String(clock.rows[0]?.["ns"])),
  };
}

function newest(rows: readonly ResultRow[]): ResultRow[] {
  const keyOf = (row: ResultRow) => `${text(row, "timestamp")} ${text(row, "unique_id")} ${text(row, "environment")}`;
  const found = newestBy(rows, keyOf, (row) => text(row, "version"));
  return [...found.values()].filter((row) => Number(row["is_deleted"]) !== 1);
}

const lastVersion = deletionVersion.toString();

function deletedOf(row: ResultRow): DeletedSpan {
  return {
    environment: text(row, "environment"),
    unique_id: text(row, "unique_id"),
    deleted_at: text(row, "received_at"),
  };
}

function factOf(row: ResultRow): StoredFact {
  return {
    environment: text(row, "environment"),
    trace_unique_id: text(row, "trace_unique_id"),
    received_at: text(row, "received_at"),
    version: BigInt(text(row, "version")),
    unique_id: text(row, "unique_id"),
    timestamp: text(row, "timestamp"),
    start_time: text(row, "start_time"),
    span_unique_id: text(row, "span_unique_id"),
    span_parent_id: text(row, "span_parent_id"),
    log_type: text(row, "log_type"),
    is_gateway: row["log_method"] === gatewayLogMethod,
    has_content: Number(row["has_content"]) === 1,
    is_failed: row["status"] === "failed" || Number(row["status_code"] ?? 0) >= 400,
    model: text(row, "model"),
    response_id: text(row, "response_id"),
    gateway_log_id: text(row, "gateway_log_id"),
    scope_name: text(row, "scope_name"),
    prompt_tokens: number(row, "prompt_tokens"),
    completion_tokens: number(row, "completion_tokens"),
    total_tokens: number(row, "total_tokens"),
    cost: number(row, "cost"),
    is_stated: row["cost_source"] === "stated",
    customer_identifier: text(row, "customer_identifier"),
    thread_identifier: text(row, "thread_identifier"),
  };
}

function countOf(row: ResultRow): StoredUsageCount {
  return {
    environment: text(row, "environment"),
    trace_unique_id: text(row, "trace_unique_id"),
    timestamp: text(row, "timestamp"),
    unique_id: text(row, "unique_id"),
    count: {
      counts_tokens: Number(row["counts_tokens"]) === 1,
      cost: number(row, "cost"),
      customer_identifier: text(row, "customer_identifier"),
      thread_identifier: text(row, "thread_identifier"),
    },
    changes_usage: Number(row["changes_usage"]),
    is_inherited: Number(row["is_inherited"]),
  };
}

function text(row: ResultRow, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : "";
}

function number(row: ResultRow, column: string): number | null {
  const value = row[column];
  return value === null || value === undefined ? null : Number(value);
}
