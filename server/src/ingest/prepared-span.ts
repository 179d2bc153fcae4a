import type { SpanRow } from "../domain/span.ts";
import { isObject, parseKeepingDigits } from "../lib/json.ts";
import { parseTimeNs } from "../lib/time.ts";
import { isDerived } from "./identity.ts";
import type { NormalizedSpan } from "./normalize.ts";

/** A span that was read, as the line that the journal will hold of it, and is still to be accepted. */
export type PreparedSpan = NormalizedSpan & {
  /** NDJSON without its line break. */
  line: string;
  /** An earlier process prepared it, and may have had it accepted. */
  isRecalled: boolean;
};

/** The span of a line that an earlier process prepared; undefined where the text is none. */
export function recallSpan(line: string): PreparedSpan | undefined {
  const row = readRow(line);
  if (row === undefined) return undefined;
  const identity = Buffer.from(row.unique_id.replaceAll("-", ""), "hex");
  const timestampNs = parseTimeNs(row.timestamp);
  if (identity.length !== 16 || timestampNs === undefined || !/^\d{1,20}$/.test(row.version)) return undefined;
  const version = BigInt(row.version);
  return { row, identity, isIdentified: isDerived(identity), timestampNs, version, line, isRecalled: true };
}

const texts = ["organization_id", "environment", "timestamp", "unique_id", "version"] as const;

function readRow(line: string): SpanRow | undefined {
  try {
    const value = parseKeepingDigits(line);
    return isObject(value) && texts.every((name) => typeof value[name] === "string") ? asRow(value) : undefined;
  } catch {
    return undefined;
  }
}

/** What bears the columns of the key is taken for a row: the text was written by `prepare`, and its checksum says so. */
function asRow(value: object): SpanRow {
  return value as SpanRow;
}
