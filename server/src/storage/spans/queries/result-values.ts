import { spanColumns } from "../../../domain/span.ts";
import type { SpanColumn } from "../../../domain/span.ts";
import type { ResultRow } from "../drivers/span-database.ts";
import type { ReceivedKey } from "../received-spans.ts";
import type { StoredSpan } from "../span-store.ts";

const integerColumns = (Object.keys(spanColumns) as SpanColumn[]).filter(
  (column) => spanColumns[column] === "integer" && column !== "version",
);

/** Casts a row of the table: the engine's types are those of the columns, except integers, which come as text. */
export function storedSpan(row: ResultRow): StoredSpan {
  for (const column of integerColumns) {
    const value = row[column];
    if (typeof value === "string") row[column] = integer(value);
  }
  return row as StoredSpan;
}

/** Casts a row of exactly those columns. */
export function asReceivedKey(row: ResultRow): ReceivedKey {
  return row as ReceivedKey;
}

function integer(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}
