import { spanColumns, type ColumnKind, type SpanColumn } from "../../../domain/span.ts";
import { fromByteString, toByteString } from "../../../lib/byte-string.ts";
import type { ResultRow } from "../drivers/span-database.ts";
import { packedColumns } from "../migrations/0030-packed-columns.ts";
import type { RawSpan } from "../raw-span.ts";

/**
 * `select`: what a statement over the table selects for some columns. `unpack`: makes rows of these columns from its
 * result.
 */
type Packing = {
  select: readonly string[];
  unpack: (row: ResultRow) => ResultRow;
  /** The same for a raw row: values in the order of `select` become values in the order of the columns. */
  unpackRaw: (row: RawSpan) => RawSpan;
};

/** Fewer columns are as fast when each is read by itself. */
const minPacked = 6;

const placeOf = new Map<SpanColumn, number>(packedColumns.map((column, index) => [column, index]));

/** Reads many columns through the one into which the engine has packed them. */
export function packingOf(columns: readonly SpanColumn[]): Packing {
  const packed = columns.filter((column) => placeOf.has(column));
  const isPacked = packed.length >= minPacked;
  const own = isPacked ? columns.filter((column) => !placeOf.has(column)) : columns;
  const sources = columns.map((column) => ({
    column,
    ownAt: own.indexOf(column),
    at: placeOf.get(column) ?? 0,
    kind: spanColumns[column],
  }));
  // Copies of one object share its shape.
  const shape = JSON.parse(JSON.stringify(Object.fromEntries(columns.map((column) => [column, null])))) as ResultRow;
  return {
    select: isPacked ? [...own, "packed"] : own,
    unpack(row) {
      const values = isPacked ? textsOf(row["packed"]) : [];
      const unpacked = { ...shape };
      for (const { column, ownAt, at, kind } of sources)
        unpacked[column] = ownAt === -1 ? valueOf(unescaped(values[at] ?? ""), kind) : row[column];
      return unpacked;
    },
    unpackRaw(row) {
      if (!isPacked) return row;
      const values = textsOf(JSON.parse(fromByteString(row[own.length] ?? '""')));
      return sources.map(({ ownAt, at, kind }) =>
        ownAt === -1 ? rawValueOf(unescaped(values[at] ?? ""), kind) : (row[ownAt] ?? "null"),
      );
    },
  };
}

/** The texts of a line in ClickHouse's format TSV, with its escapes. */
const textsOf = (packed: unknown): readonly string[] => String(packed).split("\t");

/** '' for null. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text === "\\N" ? "" : text.replace(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
}

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", "0": "\0" };

const isText = (kind: ColumnKind) => kind === "text" || kind === "time";

/** The value as the engine gives it in JSON, integers as text. */
function valueOf(text: string, kind: ColumnKind): unknown {
  if (isText(kind)) return text;
  if (text === "") return null;
  if (kind === "boolean") return text === "true";
  return kind === "number" ? finite(Number(text)) : text;
}

/** The engine writes numbers that are not finite as null. */
const finite = (value: number) => (Number.isFinite(value) ? value : null);

function rawValueOf(text: string, kind: ColumnKind): string {
  if (isText(kind)) return text === "" ? '""' : toByteString(JSON.stringify(text));
  if (text === "") return "null";
  if (kind === "integer") return `"${text}"`;
  return kind === "number" && finite(Number(text)) === null ? "null" : text;
}
