import type { QueryResult, ResultRow } from "./span-database.ts";

/** Reads a reply in ClickHouse's format `JSON`. */
export function readRows(text: string): QueryResult {
  // An empty reply is what a statement without a result gives.
  if (text === "") return { rows: [], rowsBeforeLimit: undefined };
  const reply = asReply(JSON.parse(text));
  return { rows: reply.data, rowsBeforeLimit: reply.rows_before_limit_at_least };
}

/** Reads a reply in the format `JSONCompactEachRow`, a line when it is asked for: most rows are done with at once. */
export function* readLists(text: string): Generator<unknown[], void> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end === -1 ? text.length : end);
    start += line.length + 1;
    // The format is the engine's own, asked for by name.
    if (line !== "") yield JSON.parse(line) as unknown[];
  }
}

type Reply = { data: ResultRow[]; rows_before_limit_at_least?: number };

/** The format is the engine's own, asked for by name; only its frame is checked. */
function asReply(value: unknown): Reply {
  if (typeof value === "object" && value !== null && "data" in value && Array.isArray(value.data))
    return value as Reply;
  throw new Error("the span store answered in another format than asked for");
}
