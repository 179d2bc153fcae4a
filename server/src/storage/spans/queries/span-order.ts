import type { SpanColumn } from "../../../domain/span.ts";
import { parseTimeNs } from "../../../lib/time.ts";
import type { SpanPlace, SpanSort, SpanSortField } from "../span-list.ts";
import type { StatementParams } from "../span-store.ts";
import { isNumberSql } from "../../../filter/to-clickhouse.ts";
import { metadataValue } from "./group-keys.ts";
import { isError } from "./usage.ts";
import type { Where } from "./selection.ts";

/** The kind of a value that spans are sorted by; `number` is a double. */
type ValueKind = "text" | "integer" | "number" | "time";

/** A sort key before time and id: NULL is absent, and comes last. */
type SortKey = { sql: string; kind: ValueKind };

const column = (name: SpanColumn, kind: ValueKind): SortKey => ({ sql: name, kind });
/** '' is absent in text columns. */
const text = (name: SpanColumn): SortKey => ({ sql: `nullIf(${name}, '')`, kind: "text" });
/** The order of UUIDs differs from that of their texts. */
const id: SortKey = { sql: "toString(unique_id)", kind: "text" };
const totalTokens = column("total_tokens", "integer");

const keysOfField: Record<SpanSortField, SortKey | undefined> = {
  timestamp: undefined,
  id,
  unique_id: id,
  start_time: column("start_time", "time"),
  cost: column("cost", "number"),
  latency: column("latency", "number"),
  time_to_first_token: column("time_to_first_token", "number"),
  tokens_per_second: column("tokens_per_second", "number"),
  prompt_tokens: column("prompt_tokens", "integer"),
  completion_tokens: column("completion_tokens", "integer"),
  total_tokens: totalTokens,
  all_tokens: totalTokens,
  total_request_tokens: totalTokens,
  error_count: { sql: `toInt64(${isError})`, kind: "integer" },
  status_code: column("status_code", "integer"),
  model: text("model"),
  customer_identifier: text("customer_identifier"),
  note: text("note"),
  is_pinned: { sql: "toInt64(ifNull(is_pinned, false))", kind: "integer" },
  positive_feedback: { sql: "toInt64(positive_feedback)", kind: "integer" },
};

const scoreKeys: readonly SortKey[] = [
  { sql: "score_value", kind: "number" },
  { sql: "score_text", kind: "text" },
];

/** Numbers before everything else, like scores. */
function metadataKeys(key: string): SortKey[] {
  const { sql } = metadataValue(key, sortPrefix);
  return [
    { sql: `if(${isNumberSql(sql)}, toFloat64OrZero(${sql}), NULL)`, kind: "number" },
    { sql: `nullIf(${sql}, '')`, kind: "text" },
  ];
}

const sortPrefix = "sort";

/** The parameters of the expressions of an order. */
export function sortParams({ score, metadata }: SpanSort): StatementParams {
  return {
    ...(score !== undefined && { evaluator: score }),
    ...(metadata !== undefined && metadataValue(metadata, sortPrefix).params),
  };
}

function sortKeys({ field, score, metadata }: SpanSort): SortKey[] {
  const key = keysOfField[field];
  return [
    ...(score === undefined ? [] : scoreKeys),
    ...(metadata === undefined ? [] : metadataKeys(metadata)),
    ...(key === undefined ? [] : [key]),
  ];
}

export function orderBy(sort: SpanSort): string {
  const direction = sort.descending ? "DESC" : "ASC";
  const keys = sortKeys(sort).map(({ sql }) => `${sql} ${direction} NULLS LAST`);
  const ties = ["toDate32(timestamp)", "timestamp", "unique_id", "environment"].map((tie) => `${tie} ${direction}`);
  return [...keys, ...ties].join(", ");
}

/** The expressions that a statement selects besides the key of a row, for `placeOf`. */
export function placeColumns(sort: SpanSort): string[] {
  return sortKeys(sort).map((key, index) => `${asText(key)} AS place_${index}`);
}

export function placeOf(row: Record<string, unknown>, sort: SpanSort): SpanPlace {
  const values = sortKeys(sort).map((_, index) => row[`place_${index}`]);
  return {
    values: values.map((value) => (typeof value === "string" ? value : null)),
    timestamp: String(row["timestamp"]),
    unique_id: String(row["unique_id"]),
    environment: String(row["environment"]),
  };
}

/** Whether a position has the form that `placeOf` returns for this order: positions come back from callers. */
export function isPlaceIn(sort: SpanSort, { values, timestamp }: SpanPlace): boolean {
  const kinds = sortKeys(sort).map(({ kind }) => kind);
  const fits = (kind: ValueKind, value = ""): boolean => isValue[kind](value);
  return (
    values.length === kinds.length &&
    isValue.time(timestamp) &&
    kinds.every((kind, index) => values[index] === null || fits(kind, values[index]))
  );
}

const isInt64 = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
const isValue: Record<ValueKind, (text: string) => boolean> = {
  text: () => true,
  integer: isInt64,
  number: isInt64,
  time: (text) => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}$/.test(text) && parseTimeNs(text) !== undefined,
};

// The text of a double may parse as a neighbouring value; its bits are exact.
const asText = ({ sql, kind }: SortKey): string =>
  kind === "number" ? `toString(reinterpretAsInt64(${sql}))` : `toString(${sql})`;

const bound: Record<ValueKind, (name: string) => string> = {
  text: (name) => `{${name}:String}`,
  integer: (name) => `{${name}:Int64}`,
  number: (name) => `reinterpretAsFloat64({${name}:Int64})`,
  time: (name) => `{${name}:DateTime64(9, 'UTC')}`,
};

/** Selects the rows after the position in the order. */
export function followingWhere(sort: SpanSort, place: SpanPlace): Where {
  const beyond = sort.descending ? "<" : ">";
  const params: StatementParams = {
    place_timestamp: place.timestamp,
    place_id: place.unique_id,
    place_environment: place.environment,
  };
  const ties = `(timestamp, unique_id, environment) ${beyond} ({place_timestamp:DateTime64(9, 'UTC')}, {place_id:UUID}, {place_environment:String})`;
  let sql = ties;
  for (const [index, { sql: key, kind }] of [...sortKeys(sort).entries()].toReversed()) {
    const value = place.values[index] ?? null;
    if (value === null) sql = `(isNull(${key}) AND ${sql})`;
    else {
      params[`place_${index}`] = value;
      const own = bound[kind](`place_${index}`);
      sql = `(isNull(${key}) OR ${key} ${beyond} ${own} OR (${key} = ${own} AND ${sql}))`;
    }
  }
  return { sql, params };
}
