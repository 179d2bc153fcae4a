import { freeBytes } from "../../../lib/free-bytes.ts";
import type { EngineSettings, QueryResult, ResultRow } from "./span-database.ts";

/** Reads a reply in ClickHouse's format `JSON`. */
export function readRows(text: string): QueryResult {
  // An empty reply is what a statement without a result gives.
  if (text === "") return { rows: [], rowsBeforeLimit: undefined };
  const { data, rows_before_limit_at_least: rowsBeforeLimit } = asReply(JSON.parse(text));
  return { rows: data, rowsBeforeLimit };
}

/**
 * Asks for rows of JSON texts with tabs between them, where JSON has none: `readRawRows` finds the values without parsing
 * them.
 */
export const rawFormat = "CustomSeparated";
export const rawSettings = {
  format_custom_escaping_rule: "JSON",
  output_format_json_escape_forward_slashes: 0,
} as const satisfies EngineSettings;

/**
 * Reads a reply in that format as byte strings, a row when it is asked for: most rows are done with at once. The reply is given
 * back when they are.
 */
export function* readRawRows(reply: Buffer): Generator<string[], void> {
  try {
    for (let start = 0; start < reply.length;) {
      const found = reply.indexOf(newline, start);
      const end = found === -1 ? reply.length : found;
      yield reply.toString("latin1", start, end).split("\t");
      start = end + 1;
    }
  } finally {
    freeBytes(reply);
  }
}

const newline = 0x0a;

type Reply = { data: ResultRow[]; rows_before_limit_at_least?: number };

/** The format is the engine's own, asked for by name; only its frame is checked. */
function asReply(value: unknown): Reply {
  if (typeof value === "object" && value !== null && "data" in value && Array.isArray(value.data))
    return value as Reply;
  throw new Error("the span store answered in another format than asked for");
}
