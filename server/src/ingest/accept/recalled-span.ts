import { isDerived } from "../../domain/identity.ts";
import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";
import { splitLines, unmarked } from "../writer/row-lines.ts";
import type { DeletedTraces } from "./deleted-traces.ts";

/**
 * Reads a span from the line of a row that was accepted before, without the resend mark. Returns undefined if the text
 * is not one.
 */
export function recallSpan(line: Buffer): NormalizedSpan | undefined {
  const row = readRow(line);
  if (row === undefined) return undefined;
  const identity = Buffer.from(row.unique_id.replaceAll("-", ""), "hex");
  const timestampNs = parseTimeNs(row.timestamp);
  if (identity.length !== 16 || timestampNs === undefined || !/^\d{1,20}$/.test(row.version)) return undefined;
  return { row, identity, isIdentified: isDerived(identity), timestampNs, version: BigInt(row.version) };
}

const texts = ["organization_id", "environment", "timestamp", "unique_id", "version"] as const;

function readRow(line: Buffer): SpanRow | undefined {
  try {
    const value = parseKeepingDigits(line.toString("utf8"));
    return isObject(value) && texts.every((name) => typeof value[name] === "string") ? asRow(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A value with the key columns is taken for a row: the intake wrote the text, and its checksum was verified. */
function asRow(value: object): SpanRow {
  return value as SpanRow;
}

/** Removes rows of deleted traces from an entry that an earlier process, or another node, accepted. Tombstones stay. */
export function leaveOutDeleted(payload: Buffer, deletedTraces: Pick<DeletedTraces, "covers" | "stats">): Buffer {
  if (deletedTraces.stats().traces === 0) return payload;
  const retained = splitLines(payload).filter((line) => {
    const span = recallSpan(unmarked(line));
    if (span === undefined || span.row.is_deleted === 1) return true;
    return !deletedTraces.covers(span.row, span.timestampNs);
  });
  return Buffer.concat(retained);
}
