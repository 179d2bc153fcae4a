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
import { fitsSpan } from "./fits-span.ts";
import { createPlaceSpan, type Arrival, type PlaceDeps } from "./place-span.ts";
import { markResend } from "../writer/row-lines.ts";

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
