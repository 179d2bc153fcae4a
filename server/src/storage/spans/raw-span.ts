import type { ReadColumn } from "../../domain/span.ts";
import { fromByteString } from "../../lib/byte-string.ts";
import type { ResultRow } from "./drivers/span-database.ts";
import { storedSpan } from "./queries/result-values.ts";
import type { StoredSpan } from "./span-store.ts";

/**
 * A span as the engine wrote it: its values as JSON texts, in the order of the columns that were asked for, each a byte
 * string (`lib/byte-string.ts`). Of very many spans most is passed on as it is: that is neither decoded nor parsed.
 */
export type RawSpan = readonly string[];

/** Where the value of a column is in spans that were read with `columns`. */
export function rawPlace(columns: readonly ReadColumn[], column: ReadColumn): number {
  const place = columns.indexOf(column);
  if (place === -1) throw new Error(`spans were read without ${column}`);
  return place;
}

/** Parses what is `wanted` of spans that were read with `columns`. */
export function rawReader(
  columns: readonly ReadColumn[],
  wanted: readonly ReadColumn[] = columns,
): (span: RawSpan) => StoredSpan {
  const places = wanted.map((column) => rawPlace(columns, column));
  // Copies of one object share its shape; members that are added one by one make a hash table of each row.
  const shape = JSON.parse(JSON.stringify(Object.fromEntries(wanted.map((column) => [column, null])))) as ResultRow;
  return (span) => {
    const row = { ...shape };
    for (let index = 0; index < wanted.length; index += 1) {
      row[wanted[index] as ReadColumn] = valueOf(span[places[index] as number] as string);
    }
    return storedSpan(row);
  };
}

/** Most values of most spans are absent, and need no parser. */
function valueOf(json: string): unknown {
  if (json === '""') return "";
  if (json === "null") return null;
  return JSON.parse(fromByteString(json));
}
