import type { SpanRow } from "../../domain/span.ts";
import type { PiecedText } from "./line-encoder.ts";
import type { BodyValues } from "../normalize/read-body.ts";

/** A span body that was read, and the columns of it that were serialized beforehand. */
export type ReadSpan = {
  values: BodyValues;
  written: readonly WrittenColumn[];
};

/** A column that is missing in `values`, and its JSON. */
export type WrittenColumn = {
  column: "prompt_messages" | "tools";
  value: unknown[];
  json: string;
};

const memberStart = { prompt_messages: ',"prompt_messages":', tools: ',"tools":' } as const;

/** The row's JSON line including the columns serialized beforehand. Adds these columns to `row` too. */
export function lineWith(row: SpanRow, written: readonly WrittenColumn[]): PiecedText {
  const pieces = [JSON.stringify(row).slice(0, -1)];
  for (const { column, value, json } of written) {
    pieces.push(memberStart[column], json);
    row[column] = value;
  }
  pieces.push("}");
  let whole = "";
  for (const piece of pieces) whole += piece;
  return { whole, pieces };
}
