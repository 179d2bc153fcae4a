import { traceMark, judgeResend, receivedNsOf, versionAfter, type IdentityRecord } from "../../domain/identity.ts";
import { gatewayLogMethod, type SpanRow } from "../../domain/span.ts";
import { storedTime, parseTimeNs } from "../../lib/time.ts";
import type { IdentityWrite } from "../../storage/journal/identity-memory.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { storageLimits } from "../../storage/limits.ts";
import { ingestLimits } from "../limits.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";
import { markResend } from "../writer/row-lines.ts";
import type { RefusedRow, RowOutcome } from "./accept.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import { withoutCustomer, type ErasedCustomers } from "./erased-customers.ts";

type SpanFacts = Pick<NormalizedSpan, "identity" | "isIdentified" | "timestampNs" | "version">;

export type Arrival = {
  /** Whether the span may have been accepted before. */
  isRecalled: boolean;
  /** Whether it was received some time ago, so that what was received since then may have been accepted already. */
  isRecorded: boolean;
};

/** How an accepted span is written. */
type Place = {
  version: bigint;
  firstReceivedNs: bigint;
  isResend: boolean;
  /** Set if its customer was deleted since: an upper bound of the time at which the span was first received. */
  erasedReceiptNs: bigint | undefined;
  /** The timestamp of an older version that must be removed. */
  replaces: bigint | undefined;
};

type PlaceDeps = {
  journal: Pick<Journal, "completeSinceMs">;
  deletedTraces: Pick<DeletedTraces, "covers"> | undefined;
  erasedCustomers: Pick<ErasedCustomers, "erasedAtNs"> | undefined;
  /** Whether this node takes in all spans of the store, so that its journal knows every earlier version. */
  isOnlyNode: boolean;
  nowMs: number;
};

/**
 * Compares a span with the version accepted before. Returns the reason if it must be left out: its trace was `deleted`,
 * or a fuller version was accepted before (`superseded`).
 */
type PlaceSpan = (
  span: SpanFacts,
  subject: SpanRow,
  given: { before: IdentityRecord | undefined } & Arrival,
) => Place | "deleted" | "superseded";

function createPlaceSpan(deps: PlaceDeps): PlaceSpan {
  const { journal, deletedTraces, erasedCustomers, isOnlyNode, nowMs } = deps;
  // A span is received after its end, give or take an hour of clock skew: for ends within these times, the journal
  // knows every resend.
  const knownFromNs = BigInt(journal.completeSinceMs() + ingestLimits.clockSkewMs) * 1_000_000n;
  const knownToNs = BigInt(nowMs + ingestLimits.clockSkewMs) * 1_000_000n;
  const mayBeResend = (before: IdentityRecord | undefined, { isIdentified, timestampNs }: SpanFacts): boolean =>
    before !== undefined || (isIdentified && (timestampNs < knownFromNs || timestampNs > knownToNs));

  /** See docs/adr/0036-erasure-is-permanent.md. */
  const erasedReceipt = (span: SpanFacts, subject: SpanRow, before: IdentityRecord | undefined): bigint | undefined => {
    const erasedNs = erasedCustomers?.erasedAtNs(subject);
    if (erasedNs === undefined) return undefined;
    const firstReceivedNs = before?.firstReceivedNs ?? receivedNsOf(span.version);
    if (firstReceivedNs <= erasedNs) return firstReceivedNs;
    // A gateway call that started before the deletion. Other spans count as older if they ended before it and are not
    // known to be new.
    const isKnown = before !== undefined || (isOnlyNode && span.isIdentified && !mayBeResend(before, span));
    const isOfBefore =
      subject.log_method === gatewayLogMethod
        ? (parseTimeNs(subject.start_time ?? "") ?? 0n) <= erasedNs
        : !isKnown && span.timestampNs <= erasedNs;
    return isOfBefore ? erasedNs : undefined;
  };

  return (span, subject, { before, isRecalled, isRecorded }) => {
    // A span sent without a timestamp has the end of its earlier version.
    const isCovered = (endNs: bigint | undefined): boolean =>
      endNs !== undefined && deletedTraces?.covers(subject, endNs) === true;
    if (isCovered(span.timestampNs) || isCovered(before?.timestampNs)) return "deleted";
    const isOutdated = isRecorded && before !== undefined && before.version >= span.version;
    const version = versionAfter(before, span.version);
    const verdict = judgeResend(before, { timestampNs: span.timestampNs, version });
    if (isOutdated || verdict.kind === "superseded") return "superseded";
    return {
      version,
      firstReceivedNs: before?.firstReceivedNs ?? receivedNsOf(version),
      isResend: isRecalled || mayBeResend(before, span),
      erasedReceiptNs: erasedReceipt(span, subject, before),
      replaces: verdict.kind === "wins" ? verdict.replaces : undefined,
    };
  };
}

export type SpanBatch = {
  /** Without line breaks. */
  lines: string[];
  rows: SpanRow[];
  add(span: NormalizedSpan, arrival?: Partial<Arrival>): RowOutcome;
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
  const lines: string[] = [];
  const rows: SpanRow[] = [];
  const written = new Map<string, IdentityWrite>();
  let superseded = 0;
  let resends = 0;
  const placeSpan = createPlaceSpan(deps);
  return {
    lines,
    rows,
    add(span, { isRecalled = false, isRecorded = false } = {}) {
      const { identity, isIdentified, timestampNs } = span;
      const key = isIdentified ? identity.toString("latin1") : "";
      const before = isIdentified ? (written.get(key) ?? stored?.get(key) ?? journal.lookup(identity)) : undefined;
      const placed = placeSpan(span, span.row, { before, isRecalled, isRecorded });
      if (placed === "superseded") superseded += 1;
      if (typeof placed === "string") return { ok: true, row: span.row };
      const { version, firstReceivedNs, isResend, erasedReceiptNs, replaces } = placed;
      if (erasedReceiptNs !== undefined) span.row = withoutCustomer(span.row, erasedReceiptNs);
      const { row } = span;
      span.version = version;
      row.version = version.toString();
      const line = JSON.stringify(row);
      if (!fitsSpan(line)) return tooLarge();
      if (isResend) resends += 1;
      lines.push(isResend ? markResend(line) : line);
      if (replaces !== undefined) lines.push(tombstone(row, version, replaces));
      const record = { timestampNs, version, firstReceivedNs };
      if (isIdentified) written.set(key, { identity, ...record });
      else markTrace(row, record, { written, journal });
      rows.push(row);
      return { ok: true, row };
    },
    identities: () => [...written.values()],
    hasSuperseded: () => superseded > 0,
    hasResends: () => resends > 0,
  };
}

/** Records that the trace has spans, for spans whose random identities do not show it. Dated by the first of them. */
function markTrace(
  { organization_id, environment, trace_unique_id: trace }: SpanRow,
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
export function encodeLines(lines: readonly string[]): Buffer {
  let size = 0;
  for (const line of lines) size += Buffer.byteLength(line) + 1;
  const bytes = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const line of lines) {
    offset += bytes.write(line, offset, "utf8");
    bytes[offset] = 0x0a;
    offset += 1;
  }
  return bytes;
}

function tooLarge(): RefusedRow {
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

/** Whether JSON text is within the size limit of a span. */
export function fitsSpan(json: string): boolean {
  // UTF-8 needs at most three bytes per UTF-16 unit: most texts are known to fit without measuring.
  return json.length * 3 <= storageLimits.spanBytes || Buffer.byteLength(json) <= storageLimits.spanBytes;
}
