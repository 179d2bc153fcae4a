import type { QueryResult, ResultRow } from "./span-database.ts";

/** Reads a reply in ClickHouse's format `JSON`. */
export function readRows(text: string): QueryResult {
  // An empty reply is what a statement without a result gives.
  if (text === "") return { rows: [], rowsBeforeLimit: undefined };
  const reply = asReply(JSON.parse(text));
  return { rows: reply.data, rowsBeforeLimit: reply.rows_before_limit_at_least };
}

type Reply = { data: ResultRow[]; rows_before_limit_at_least?: number };

/** The format is the engine's own, asked for by name; only its frame is checked. */
function asReply(value: unknown): Reply {
  if (typeof value === "object" && value !== null && "data" in value && Array.isArray(value.data))
    return value as Reply;
  throw new Error("the span store answered in another format than asked for");
}
