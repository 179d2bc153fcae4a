import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { parseTimeNs } from "../../lib/time.ts";
import { isDerived } from "../../domain/identity.ts";
import { createLineEncoder } from "./line-encoder.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";

/** A normalized span that is not accepted yet, with its journal line. */
export type PreparedSpan = NormalizedSpan & {
  /** NDJSON without the line break. */
  line: string;
  /** The pieces that `line` is made of. */
  pieces: readonly string[];
};

/** Columns of the row that decide how it is accepted. */
export type SpanSubject = Pick<SpanRow, "organization_id" | "environment"> & {
  trace_unique_id?: string | undefined;
  log_method?: string | undefined;
  customer_identifier?: string | undefined;
  start_time?: string | undefined;
};

/**
 * A prepared span while it is buffered. It consists of bytes, which the garbage collector need not traverse: keeping
 * objects for every call cost more than everything else about the buffering.
 */
export type HeldSpan = Omit<NormalizedSpan, "row"> & {
  /** Empty if the span is not identified. */
  identity: Buffer;
  subject: SpanSubject;
  /** NDJSON without the line break. */
  line: Buffer;
  /** Kept only if a subscriber awaits the span. */
  row: SpanRow | undefined;
  /** Whether an earlier process prepared it; that process may have had it accepted. */
  isRecalled: boolean;
};

/** Spans that were prepared together, and the buffer that contains all their lines. */
export type HeldSpans = { spans: HeldSpan[]; bytes: Buffer };

/** Enough for the lines of about a dozen spans of common size. */
const scratchBytes = 256 * 1024;

/** @param isAwaited whether a subscriber wants the row once it is stored */
export function createSpanHolder(
  isAwaited: (row: SpanRow) => boolean,
): (prepared: readonly PreparedSpan[]) => HeldSpans {
  const encode = createLineEncoder(scratchBytes);
  return (prepared) => {
    const { bytes, lines } = encode(prepared.map(({ line, pieces }) => ({ whole: line, pieces })));
    const spans = prepared.map(({ row, identity, isIdentified, timestampNs, version }, index) => ({
      identity: isIdentified ? outOfPool(identity) : none,
      isIdentified,
      timestampNs,
      version,
      subject: subjectOf(row),
      line: lines[index] ?? none,
      row: isAwaited(row) ? row : undefined,
      isRecalled: false,
    }));
    return { spans, bytes };
  };
}

/** Random identities are never looked up. */
const none = Buffer.alloc(0);

/** A copy with memory of its own: a slice of Node's buffer pool would keep the whole pool block alive. */
function outOfPool(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function subjectOf(row: SpanRow): SpanSubject {
  const { organization_id, environment, trace_unique_id, log_method, customer_identifier, start_time } = row;
  return { organization_id, environment, trace_unique_id, log_method, customer_identifier, start_time };
}

/** Reads a span from a line that an earlier process prepared. Returns undefined if the text is not one. */
export function recallSpan(line: Buffer): HeldSpan | undefined {
  const row = readRow(line);
  if (row === undefined) return undefined;
  const identity = Buffer.from(row.unique_id.replaceAll("-", ""), "hex");
  const timestampNs = parseTimeNs(row.timestamp);
  if (identity.length !== 16 || timestampNs === undefined || !/^\d{1,20}$/.test(row.version)) return undefined;
  const version = BigInt(row.version);
  const isIdentified = isDerived(identity);
  // There are few of these, so the row is kept without checking whether it is awaited.
  return { identity, isIdentified, timestampNs, version, subject: subjectOf(row), line, row, isRecalled: true };
}

/** Returns the row of a buffered span, parsed from its line if it was not kept. */
export function rowOf({ line, row }: HeldSpan): SpanRow {
  return row ?? asRow(parseKeepingDigits(line.toString("utf8")) as object);
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

/** A value with the key columns is taken for a row: `prepare` wrote the text, and its checksum was verified. */
function asRow(value: object): SpanRow {
  return value as SpanRow;
}
