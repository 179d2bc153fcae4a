import { randomUUID } from "node:crypto";
import type { SpanColumn } from "../../../domain/span.ts";
import { spanColumns } from "../../../domain/span.ts";
import { parseFilters } from "../../../filter/parse.ts";
import { createSpanCatalogue } from "../../../filter/span-fields.ts";
import { toClickHouse, type SqlFilter } from "../../../filter/to-clickhouse.ts";
import { parseTimeNs } from "../../../lib/time.ts";
import type { QueryBounds } from "../drivers/span-database.ts";
import type { ListSpansQuery, SpanSort, SpanSortField } from "../span-list.ts";
import type { SpanStore, StoredSpan } from "../span-store.ts";
import { spanGroupings } from "../span-store.ts";

/** Shared by the parts of the contract: rows with a value in every column, and queries for them. */

export type ContractDriver = {
  /** Another node on the same data. */
  open: (bounds?: Partial<QueryBounds>) => SpanStore;
  store: () => SpanStore;
  insert: (rows: readonly object[], token?: string) => Promise<void>;
  /** Declares a test that does not depend on the driver: only one driver runs it. */
  once: (name: string, test: () => Promise<void>) => void;
  /** All of these on that driver, only the first on others. */
  variations: <T>(all: readonly T[]) => readonly T[];
};

export type TestRow = {
  organization_id: string;
  environment: string;
  timestamp: string;
  unique_id: string;
  version: string;
};

export const newOrganization = () => `org_${randomUUID()}`;
export const always = { fromNs: -(2n ** 63n), toNs: 2n ** 63n - 1n };
export const slowly = { timeout: 90_000, interval: 200 };
export const firstPage = { page: 1, pageSize: 50 };
export const mostFirst = { field: "number_of_requests", descending: true } as const;
const catalogue = createSpanCatalogue();
/** The condition of filters as callers send them. */
export const conditionOf = (filters: object): SqlFilter =>
  toClickHouse(parseFilters({ ...filters }, catalogue).filter, catalogue);
export const ascending = (field: SpanSortField): SpanSort => ({ field, descending: false });
export const descending = (field: SpanSortField): SpanSort => ({ field, descending: true });
export const timeAt = (second: number) => `2026-05-05 05:05:${String(second).padStart(2, "0")}.000000000`;
export const nsAt = (second: number) => parseTimeNs(timeAt(second)) ?? 0n;
export const everythingOf = (organization_id: string) => ({ scope: { organization_id }, window: always });

export function listOf(organization_id: string, query: Partial<ListSpansQuery> = {}): ListSpansQuery {
  return { ...everythingOf(organization_id), ...firstPage, sort: descending("timestamp"), fields: [], ...query };
}

export function spanRow<T extends object>(organization_id: string, members?: T): TestRow & T {
  const row = { organization_id, environment: "prod", timestamp: timeAt(0), unique_id: randomUUID(), version: "1" };
  return { ...row, ...members } as TestRow & T;
}

export function keyOf({ organization_id, environment, timestamp, unique_id }: TestRow) {
  return { organization_id, environment, timestamp, unique_id };
}

export function measuresOf(value: number) {
  const names = ["cost", "latency", "time_to_first_token", "tokens_per_second", "prompt_tokens", "completion_tokens"];
  const numbers = [...names, "total_tokens", "status_code"].map((name) => [name, value]);
  return { ...Object.fromEntries(numbers), model: `model ${value}`, customer_identifier: `user ${value}` };
}

export const sortedColumns: Partial<Record<SpanSortField, SpanColumn>> = {
  id: "unique_id",
  all_tokens: "total_tokens",
  total_request_tokens: "total_tokens",
};

export function groupedValues(value: string) {
  const columns = spanGroupings.filter((name) => !["trace", "thread", "environment", "status_code"].includes(name));
  return {
    ...Object.fromEntries(columns.map((column) => [column, value])),
    trace_unique_id: value,
    thread_identifier: value,
  };
}

export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

const awkward = "é😀 \u0000 ' \" \\ \n\t\u2028 \\N {x:String} 日本";

/** A row with a value in every column, at the limits of its kind. */
export function fullRow(organization_id: string): TestRow & Record<string, unknown> {
  const members = Object.entries(spanColumns).map(([column, kind]) => [column, edgeValues[kind](column)] as const);
  const row = spanRow(organization_id, Object.fromEntries(members));
  return {
    ...row,
    organization_id,
    environment: "prod",
    unique_id: randomUUID(),
    version: "18446744073709551615",
    is_deleted: 0,
    is_resend: 0,
  };
}

const edgeValues: Record<(typeof spanColumns)[SpanColumn], (column: string) => unknown> = {
  text: (column) => `${column} ${awkward}`,
  json: (column) => ({ z: column, a: [1, null, { deep: awkward }], empty: {} }),
  uuid: () => randomUUID(),
  time: () => "2026-05-05 05:05:05.123456789",
  integer: () => "9007199254740993",
  number: () => 0.1 + 0.2,
  boolean: () => false,
  map: () => ({ "a.b": awkward, "": "empty key", "it's": "" }),
};

/** Writes integers beyond a double as digits, as ingest does. */
export function ndjsonLine(row: object): string {
  return `${JSON.stringify(row).replaceAll('"9007199254740993"', "9007199254740993")}\n`;
}

export function expectedFullRow(sent: Record<string, unknown>): StoredSpan {
  const members = Object.entries(spanColumns).map(([column, kind]) => {
    const value = sent[column];
    return [column, kind === "json" ? JSON.stringify(value) : value];
  });
  const counted = {
    counted_cost: sent["cost"],
    counted_tokens: sent["total_tokens"],
    counted_customer_identifier: sent["customer_identifier"],
    counted_thread_identifier: sent["thread_identifier"],
  };
  return { ...Object.fromEntries(members), ...counted } as StoredSpan;
}

/** The percentiles of a distribution. */
export function percentilesOf(name: string, values: readonly (number | null)[]) {
  return Object.fromEntries([50, 90, 95, 99].map((level, index) => [`p${level}_${name}`, values[index]]));
}
