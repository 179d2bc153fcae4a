import { freeBytes } from "../../../lib/free-bytes.ts";
import type { EngineSettings, QueryResult, RawRows, ResultRow } from "./span-database.ts";

/** Parses a reply in ClickHouse's format `JSON`. */
export function readRows(text: string): QueryResult {
  // A statement without a result has an empty reply.
  if (text === "") return { rows: [], rowsBeforeLimit: undefined };
  const { data, rows_before_limit_at_least: rowsBeforeLimit } = asReply(JSON.parse(text));
  return { rows: data, rowsBeforeLimit };
}

/**
 * Requests rows of JSON texts separated by tabs, which JSON texts do not contain: `readRawRows` finds the values
 * without parsing them.
 */
export const rawFormat = "CustomSeparated";
export const rawSettings = {
  format_custom_escaping_rule: "JSON",
  output_format_json_escape_forward_slashes: 0,
} as const satisfies EngineSettings;

/**
 * Reads a reply in that format as byte strings, one row at a time: most rows are short-lived. Frees the reply after the
 * last row.
 */
export function readRawRows(reply: Buffer): RawRows {
  const end = reply.at(-1) === newline ? reply.length - 1 : reply.length;
  const last = end > 0 ? valuesOf(reply, reply.lastIndexOf(newline, end - 1) + 1, end) : undefined;
  return { size: countRows(reply), last, [Symbol.iterator]: () => rowsOf(reply) };
}

function* rowsOf(reply: Buffer): Generator<string[], void> {
  try {
    for (let start = 0; start < reply.length;) {
      const end = endOfRow(reply, start);
      yield valuesOf(reply, start, end);
      start = end + 1;
    }
  } finally {
    freeBytes(reply);
  }
}

function countRows(reply: Buffer): number {
  let count = 0;
  for (let start = 0; start < reply.length; start = endOfRow(reply, start) + 1) count += 1;
  return count;
}

function endOfRow(reply: Buffer, start: number): number {
  const found = reply.indexOf(newline, start);
  return found === -1 ? reply.length : found;
}

const valuesOf = (reply: Buffer, start: number, end: number): string[] =>
  reply.toString("latin1", start, end).split("\t");

const newline = 0x0a;

type Reply = { data: ResultRow[]; rows_before_limit_at_least?: number };

/** Only the outer structure is checked: the format was requested by name. */
function asReply(value: unknown): Reply {
  if (typeof value === "object" && value !== null && "data" in value && Array.isArray(value.data))
    return value as Reply;
  throw new Error("the span store replied in a format that was not requested");
}
