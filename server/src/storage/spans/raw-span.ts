import type { ReadColumn } from "../../domain/span.ts";
import { fromByteString } from "../../lib/byte-string.ts";
import type { ResultRow } from "./drivers/span-database.ts";
import { storedSpan } from "./queries/result-values.ts";
import type { StoredSpan } from "./span-store.ts";

/**
 * A span as the engine wrote it: its values as JSON texts, in the order of the requested columns, each a byte string
 * (`lib/byte-string.ts`). Very large reads pass most values on without decoding or parsing them.
 */
export type RawSpan = readonly string[];

/** The index of a column in spans that were read with `columns`. */
export function rawPlace(columns: readonly ReadColumn[], column: ReadColumn): number {
  const place = columns.indexOf(column);
  if (place === -1) throw new Error(`spans were read without ${column}`);
  return place;
}

/** Returns a parser of the `wanted` columns of spans that were read with `columns`. */
export function rawReader(
  columns: readonly ReadColumn[],
  wanted: readonly ReadColumn[] = columns,
): (span: RawSpan) => StoredSpan {
  const places = wanted.map((column) => rawPlace(columns, column));
  // Copies of one object share its shape; members added one by one would make each row a hash table.
  const shape = JSON.parse(JSON.stringify(Object.fromEntries(wanted.map((column) => [column, null])))) as ResultRow;
  return (span) => {
    const row = { ...shape };
    for (let index = 0; index < wanted.length; index += 1) {
      row[wanted[index] as ReadColumn] = valueOf(span[places[index] as number] as string);
    }
    return storedSpan(row);
  };
}

/** Most values of most spans are absent and need no parser. */
function valueOf(json: string): unknown {
  if (json === '""') return "";
  if (json === "null") return null;
  return JSON.parse(fromByteString(json));
}
