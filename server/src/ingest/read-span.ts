import type { SpanRow } from "../domain/span.ts";
import type { BodyValues } from "./read-body.ts";

/** A span body that was read, and what of it was written beforehand. */
export type ReadSpan = {
  values: BodyValues;
  written: readonly WrittenColumn[];
};

/** A column that is in no value, and its JSON. */
export type WrittenColumn = {
  column: "prompt_messages" | "tools";
  value: unknown[];
  json: string;
};

/** The row's line with what was written beforehand; the row has it from here on too. */
export function lineWith(row: SpanRow, written: readonly WrittenColumn[]): string {
  let line = JSON.stringify(row);
  for (const { column, value, json } of written) {
    line = `${line.slice(0, -1)},"${column}":${json}}`;
    row[column] = value;
  }
  return line;
}
