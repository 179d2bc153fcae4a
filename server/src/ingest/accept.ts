import type { ErrorCode, FieldErrors } from "../domain/errors.ts";
import type { SpanRow } from "../domain/span.ts";
import { limits } from "../limits.ts";
import type { IdentityRecord, IdentityWrite } from "../storage/journal/identity-memory.ts";
import type { Journal, JournalEntry } from "../storage/journal/journal.ts";
import type { IngestMetrics } from "../telemetry/ingest-metrics.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import type { PriceBook } from "./enrich/price.ts";
import { judgeResend, versionAfter } from "./identity.ts";
import { createNestedJson } from "./nested-json.ts";
import { normalizeSpan, type NormalizedSpan, type SpanOrigin } from "./normalize.ts";
import { storedTime } from "./read-times.ts";

export type AcceptedRow = { ok: true; row: SpanRow };
export type RefusedRow = { ok: false; code: ErrorCode; errors: FieldErrors };
export type RowOutcome = AcceptedRow | RefusedRow;

/**
 * Takes spans in: once `accept` resolves, every accepted row is on disk and will be stored exactly once.
 * Rows are independent: a bad one is refused alone. Outcomes are in the order of the bodies.
 *
 * @throws ServiceError `unavailable` when the journal cannot take them; then none is accepted.
 */
export type SpanIntake = {
  accept(bodies: readonly unknown[], origin: SpanOrigin, options?: AcceptOptions): Promise<RowOutcome[]>;
};

export type AcceptOptions = {
  /** Names a request that may be repeated. */
  idempotencyKey?: string | undefined;
  /**
   * The ids of the rows, 16 bytes each (`newIdentity`), where they had to be known before: they are taken by rows whose
   * identity does not follow from what they hold.
   */
  identities?: readonly Buffer[] | undefined;
};

export type SpanIntakeDeps = {
  journal: Journal;
  prices: PriceBook;
  metrics: IngestMetrics;
  /** Called with what was committed, so that the writer stores it. */
  committed: (entry: JournalEntry, payload: Buffer, organizationId: string, rows: readonly SpanRow[]) => void;
  /** What is sent again of a deleted trace is accepted and not kept. */
  deletedTraces?: Pick<DeletedTraces, "covers">;
  /** Milliseconds since the epoch. */
  now: () => number;
};

export function createSpanIntake({
  journal,
  prices,
  metrics,
  committed,
  deletedTraces,
  now,
}: SpanIntakeDeps): SpanIntake {
  const nextReceivedNs = createReceiptClock(now);

  return {
    async accept(bodies, origin, { idempotencyKey, identities } = {}) {
      const batch = createBatch({ journal, deletedTraces, nowMs: now() });
      const nested = createNestedJson(limits.bodyNodes);
      const outcomes = bodies.map((body, index): RowOutcome => {
        const normalized = normalizeSpan(body, origin, {
          receivedNs: nextReceivedNs(),
          prices,
          nested,
          idempotencyKey: idempotencyKey === undefined ? undefined : `${idempotencyKey}\n${index}`,
          identity: identities?.[index],
        });
        if (!normalized.ok) return { ok: false, code: "validation_failed", errors: normalized.errors };
        return batch.add(normalized.span);
      });
      if (batch.lines.length > 0) {
        const payload = encodeLines(batch.lines);
        const entry = await journal
          .append({
            payload,
            rows: batch.lines.length,
            identities: batch.identities(),
            hasResends: batch.hasResends(),
          })
          .catch((error: unknown) => {
            metrics.journalRefusals.inc();
            throw error;
          });
        committed(entry, payload, origin.organization_id, batch.rows);
      }
      // What stands in for a superseded row may itself be on its way to the disk still.
      if (batch.hasSuperseded()) await journal.settled();
      const accepted = outcomes.filter((outcome) => outcome.ok).length;
      metrics.accepted.inc({ log_method: origin.log_method }, accepted);
      metrics.refused.inc({ log_method: origin.log_method }, outcomes.length - accepted);
      return outcomes;
    },
  };
}

type Batch = {
  lines: string[];
  /** The spans among them. */
  rows: SpanRow[];
  add(span: NormalizedSpan): RowOutcome;
  identities(): IdentityWrite[];
  /** Whether a row was left out because a fuller version was accepted before. */
  hasSuperseded(): boolean;
  /** Whether a row may share its key with one that was accepted before. */
  hasResends(): boolean;
};

/** The rows of one request, with resends judged against what was accepted before and earlier in the request. */
function createBatch({
  journal,
  deletedTraces,
  nowMs,
}: {
  journal: Pick<Journal, "lookup" | "completeSinceMs">;
  deletedTraces: Pick<DeletedTraces, "covers"> | undefined;
  nowMs: number;
}): Batch {
  const lines: string[] = [];
  const rows: SpanRow[] = [];
  const written = new Map<string, IdentityWrite>();
  let superseded = 0;
  let resends = 0;
  // A span is received after its end, clocks being an hour apart at most: of what ended in between, resends are known.
  const knownFromNs = BigInt(journal.completeSinceMs() + limits.clockSkewMs) * 1_000_000n;
  const knownToNs = BigInt(nowMs + limits.clockSkewMs) * 1_000_000n;
  const mayBeResend = (before: IdentityRecord | undefined, { isIdentified, timestampNs }: NormalizedSpan): boolean =>
    before !== undefined || (isIdentified && (timestampNs < knownFromNs || timestampNs > knownToNs));

  return {
    lines,
    rows,
    add(span) {
      const key = span.isIdentified ? span.identity.toString("latin1") : "";
      const before: IdentityRecord | undefined = span.isIdentified
        ? (written.get(key) ?? journal.lookup(span.identity))
        : undefined;
      // An earlier version tells when a span ended that is sent without saying so.
      const ends = [span.timestampNs, ...(before === undefined ? [] : [before.timestampNs])];
      if (ends.some((end) => deletedTraces?.covers(span.row, end))) return { ok: true, row: span.row };
      const version = versionAfter(before, span.version);
      if (version !== span.version) {
        span.version = version;
        span.row.version = version.toString();
      }
      const verdict = judgeResend(before, span);
      if (verdict.kind === "superseded") {
        superseded += 1;
        return { ok: true, row: span.row };
      }

      const isResend = mayBeResend(before, span);
      const line = serializeRow(isResend ? { is_resend: 1, ...span.row } : span.row);
      if (line === undefined) return tooLarge();
      lines.push(line);
      rows.push(span.row);
      if (isResend) resends += 1;
      if (verdict.kind === "wins" && verdict.replaces !== undefined) lines.push(tombstone(span, verdict.replaces));
      if (span.isIdentified) {
        const { identity, timestampNs, version } = span;
        written.set(key, { identity, timestampNs, version });
      }
      return { ok: true, row: span.row };
    },
    identities: () => [...written.values()],
    hasSuperseded: () => superseded > 0,
    hasResends: () => resends > 0,
  };
}

/**
 * NDJSON bytes. Line by line: joined first, one curly quote would make the whole batch a two-byte string, at several
 * times the cost.
 */
function encodeLines(lines: readonly string[]): Buffer {
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

/** One NDJSON line; undefined where it is over the bound of a span. */
function serializeRow(row: SpanRow): string | undefined {
  const line = JSON.stringify(row);
  // UTF-8 needs at most three bytes per UTF-16 unit: most rows are surely small without measuring.
  if (line.length * 3 <= limits.spanBytes) return line;
  return Buffer.byteLength(line) <= limits.spanBytes ? line : undefined;
}

function tooLarge(): RefusedRow {
  const message = `must be at most ${limits.spanBytes} bytes (20 MB) as JSON`;
  return { ok: false, code: "payload_too_large", errors: { body: [message] } };
}

/** The row that takes an older version with another timestamp, hence another key, out of the table. */
function tombstone({ row, version }: NormalizedSpan, timestampNs: bigint): string {
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

/** Nanoseconds since the epoch, rising with every call, also when the machine's clock steps back. */
function createReceiptClock(now: () => number): () => bigint {
  let last = 0n;
  return () => {
    const current = BigInt(Math.round(now() * 1000)) * 1000n;
    last = current > last ? current : last + 1n;
    return last;
  };
}
