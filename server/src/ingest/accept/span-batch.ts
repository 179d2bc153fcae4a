import type { SpanRow } from "../../domain/span.ts";
import { storageLimits } from "../../storage/limits.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import type { IdentityWrite } from "../../storage/journal/identity-memory.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { storedTime } from "../../lib/time.ts";
import type { RefusedRow, RowOutcome } from "./accept.ts";
import { withoutCustomer } from "./erased-customers.ts";
import { traceMark } from "../../domain/identity.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";
import { createPlaceSpan, type Place, type PlaceDeps, type SpanFacts } from "./place-span.ts";
import { rowOf, type HeldSpan, type SpanSubject } from "./prepared-span.ts";
import { markResend, markResends } from "../writer/row-lines.ts";

export type SpanBatch = {
  /** Without line breaks. */
  lines: Array<string | Buffer>;
  /** The rows of the batch's spans, except buffered ones that nobody awaits. */
  rows: SpanRow[];
  add(span: NormalizedSpan): RowOutcome;
  addHeld(span: HeldSpan): void;
  identities(): IdentityWrite[];
  /** Whether a row was left out because a fuller version was accepted before. */
  hasSuperseded(): boolean;
  /** Whether a row may share its key with one that was accepted before. */
  hasResends(): boolean;
};

export type SpanBatchDeps = PlaceDeps & {
  journal: Pick<Journal, "lookup">;
  /** Records of the store for spans that were received before, by identity: see span-history.ts. */
  stored?: ReadonlyMap<string, IdentityRecord> | undefined;
};

/** The rows of one request. Resends are compared with what was accepted before and earlier in the request. */
export function createSpanBatch(deps: SpanBatchDeps): SpanBatch {
  const { journal, stored } = deps;
  const lines: Array<string | Buffer> = [];
  const rows: SpanRow[] = [];
  const written = new Map<string, IdentityWrite>();
  let superseded = 0;
  let resends = 0;
  const placeSpan = createPlaceSpan(deps);
  /** Undefined if the span is left out. */
  const place = (span: SpanFacts, subject: SpanSubject, isRecalled: boolean): Place | undefined => {
    const key = span.isIdentified ? span.identity.toString("latin1") : "";
    const before = span.isIdentified
      ? (written.get(key) ?? stored?.get(key) ?? journal.lookup(span.identity))
      : undefined;
    const placed = placeSpan(span, subject, { before, isRecalled });
    if (placed === "superseded") superseded += 1;
    return typeof placed === "string" ? undefined : placed;
  };
  const write = (
    line: string | Buffer,
    span: SpanFacts & { subject: SpanSubject },
    { isResend, firstReceivedNs, replaces }: Place,
    row: () => SpanRow,
  ): void => {
    if (isResend) resends += 1;
    lines.push(isResend ? marked(line) : line);
    if (replaces !== undefined) lines.push(tombstone(row(), span.version, replaces));
    const { identity, timestampNs, version, subject } = span;
    const record = { timestampNs, version, firstReceivedNs };
    if (span.isIdentified) written.set(identity.toString("latin1"), { identity, ...record });
    else markTrace(subject, record, { written, journal });
  };
  return {
    lines,
    rows,
    add(span) {
      const placed = place(span, span.row, false);
      if (placed === undefined) return { ok: true, row: span.row };
      if (placed.erasedReceiptNs !== undefined) span.row = withoutCustomer(span.row, placed.erasedReceiptNs);
      const { row } = span;
      span.version = placed.version;
      row.version = placed.version.toString();
      const line = serializeRow(row);
      if (line === undefined) return tooLarge();
      write(line, { ...span, subject: row }, placed, () => row);
      rows.push(row);
      return { ok: true, row };
    },
    addHeld(span) {
      const placed = place(span, span.subject, span.isRecalled);
      if (placed === undefined) return;
      const { erasedReceiptNs } = placed;
      if (placed.version !== span.version || erasedReceiptNs !== undefined) {
        span.version = placed.version;
        const row = erasedReceiptNs === undefined ? rowOf(span) : withoutCustomer(rowOf(span), erasedReceiptNs);
        if (span.row !== undefined) span.row = row;
        span.line = Buffer.from(JSON.stringify({ ...row, version: placed.version.toString() }));
      }
      write(span.line, span, placed, () => rowOf(span));
      if (span.row !== undefined) rows.push(span.row);
    },
    identities: () => [...written.values()],
    hasSuperseded: () => superseded > 0,
    hasResends: () => resends > 0,
  };
}

/** Records that the trace has spans, for spans whose random identities do not show it. Dated by the first of them. */
function markTrace(
  { organization_id, environment, trace_unique_id: trace }: SpanSubject,
  record: IdentityRecord,
  { written, journal }: { written: Map<string, IdentityWrite>; journal: Pick<Journal, "lookup"> },
): void {
  if (trace === undefined || trace === "") return;
  const identity = traceMark({ organization_id, environment, trace });
  const key = identity.toString("latin1");
  if (!written.has(key) && journal.lookup(identity) === undefined) written.set(key, { identity, ...record });
}

/**
 * NDJSON bytes, written line by line: if the lines were joined first, one curly quote would make the whole batch a
 * two-byte string, at several times the cost.
 */
export function encodeLines(lines: ReadonlyArray<string | Buffer>): Buffer {
  let size = 0;
  for (const line of lines) size += Buffer.byteLength(line) + 1;
  const bytes = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const line of lines) {
    offset += typeof line === "string" ? bytes.write(line, offset, "utf8") : line.copy(bytes, offset);
    bytes[offset] = 0x0a;
    offset += 1;
  }
  return bytes;
}

function marked(line: string | Buffer): string | Buffer {
  return typeof line === "string" ? markResend(line) : markResends(line);
}

/** One NDJSON line without its line break; undefined if it exceeds the size limit of a span. */
export function serializeRow(row: SpanRow): string | undefined {
  return withinBound(JSON.stringify(row));
}

/** Returns the line, or undefined if it exceeds the size limit of a span. */
export function withinBound(line: string): string | undefined {
  // UTF-8 needs at most three bytes per UTF-16 unit: most rows are known to fit without measuring.
  if (line.length * 3 <= storageLimits.spanBytes) return line;
  return Buffer.byteLength(line) <= storageLimits.spanBytes ? line : undefined;
}

export function tooLarge(): RefusedRow {
  const message = `must be at most ${storageLimits.spanBytes} bytes (20 MB) as JSON`;
  return { ok: false, code: "payload_too_large", errors: { body: [message] } };
}

/** The tombstone of an older version with another timestamp, hence another key. */
function tombstone(row: SpanRow, version: bigint, timestampNs: bigint): string {
  return JSON.stringify({
    is_resend: 1,
    organization_id: row.organization_id,
    environment: row.environment,
    timestamp: storedTime(timestampNs),
    unique_id: row.unique_id,
    trace_unique_id: row.trace_unique_id,
    received_at: row.received_at,
    version: version.toString(),
    is_deleted: 1,
  });
}
