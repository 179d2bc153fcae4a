import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { parseTimeNs } from "../../lib/time.ts";
import { isDerived } from "../../domain/identity.ts";
import { createLineEncoder } from "./line-encoder.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";

/** A span that was read, as the line that the journal will hold of it, and is still to be accepted. */
export type PreparedSpan = NormalizedSpan & {
  /** NDJSON without its line break. */
  line: string;
  /** What that was put together from. */
  pieces: readonly string[];
};

/** What decides about a span's row, and stands in it too. */
export type SpanSubject = Pick<SpanRow, "organization_id" | "environment"> & {
  trace_unique_id?: string | undefined;
  log_method?: string | undefined;
  customer_identifier?: string | undefined;
  start_time?: string | undefined;
};

/**
 * A prepared span while it waits for others. It is bytes, which the collector need not look at: objects of every call that
 * live for as long as that cost more than the rest of the wait.
 */
export type HeldSpan = Omit<NormalizedSpan, "row"> & {
  /** Of a span that is identified; else of no bytes. */
  identity: Buffer;
  subject: SpanSubject;
  /** NDJSON without its line break. */
  line: Buffer;
  /** Kept for whoever waits for spans to be stored, where it concerns one. */
  row: SpanRow | undefined;
  /** An earlier process prepared it, and may have had it accepted. */
  isRecalled: boolean;
};

/** Spans that were prepared together, and the buffer in which all their lines lie. */
export type HeldSpans = { spans: HeldSpan[]; bytes: Buffer };

/** Enough for the lines of some dozen spans of common size. */
const scratchBytes = 256 * 1024;

/** @param isAwaited whether a row is wanted as it is once it is stored */
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

/** Nobody asks for an identity that was drawn by lot. */
const none = Buffer.alloc(0);

/** A copy that has its memory to itself: as long as a part of Node's pool is held, so is what lies around it, here a moment's requests. */
function outOfPool(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function subjectOf(row: SpanRow): SpanSubject {
  const { organization_id, environment, trace_unique_id, log_method, customer_identifier, start_time } = row;
  return { organization_id, environment, trace_unique_id, log_method, customer_identifier, start_time };
}

/** The span of a line that an earlier process prepared; undefined where the text is none. */
export function recallSpan(line: Buffer): HeldSpan | undefined {
  const row = readRow(line);
  if (row === undefined) return undefined;
  const identity = Buffer.from(row.unique_id.replaceAll("-", ""), "hex");
  const timestampNs = parseTimeNs(row.timestamp);
  if (identity.length !== 16 || timestampNs === undefined || !/^\d{1,20}$/.test(row.version)) return undefined;
  const version = BigInt(row.version);
  const isIdentified = isDerived(identity);
  // There are few, so that nobody need be asked who waits for them.
  return { identity, isIdentified, timestampNs, version, subject: subjectOf(row), line, row, isRecalled: true };
}

/** The row that a held span's line says. */
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

/** What bears the columns of the key is taken for a row: the text was written by `prepare`, and its checksum says so. */
function asRow(value: object): SpanRow {
  return value as SpanRow;
}
