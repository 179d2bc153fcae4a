import type { SpanRow } from "../domain/span.ts";
import { limits } from "../limits.ts";
import type { IdentityRecord, IdentityWrite } from "../storage/journal/identity-memory.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { RefusedRow, RowOutcome } from "./accept.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import { judgeResend, versionAfter } from "./identity.ts";
import type { NormalizedSpan } from "./normalize.ts";
import type { PreparedSpan } from "./prepared-span.ts";
import { storedTime } from "./read-times.ts";
import { markResend } from "./row-lines.ts";

export type SpanBatch = {
  lines: string[];
  /** The spans among them. */
  rows: SpanRow[];
  add(span: NormalizedSpan | PreparedSpan): RowOutcome;
  identities(): IdentityWrite[];
  /** Whether a row was left out because a fuller version was accepted before. */
  hasSuperseded(): boolean;
  /** Whether a row may share its key with one that was accepted before. */
  hasResends(): boolean;
};

/** The rows of one request, with resends judged against what was accepted before and earlier in the request. */
export function createSpanBatch({
  journal,
  deletedTraces,
  nowMs,
}: {
  journal: Pick<Journal, "lookup" | "completeSinceMs">;
  deletedTraces: Pick<DeletedTraces, "covers"> | undefined;
  nowMs: number;
}): SpanBatch {
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
      const prepared = "line" in span ? span : undefined;
      const key = span.isIdentified ? span.identity.toString("latin1") : "";
      const before: IdentityRecord | undefined = span.isIdentified
        ? (written.get(key) ?? journal.lookup(span.identity))
        : undefined;
      // An earlier version tells when a span ended that is sent without saying so.
      const ends = [span.timestampNs, ...(before === undefined ? [] : [before.timestampNs])];
      if (ends.some((end) => deletedTraces?.covers(span.row, end))) return { ok: true, row: span.row };
      // The very row, or one that came after it.
      if (prepared?.isRecalled === true && before !== undefined && before.version >= span.version) {
        superseded += 1;
        return { ok: true, row: span.row };
      }
      const version = versionAfter(before, span.version);
      const isLater = version !== span.version;
      if (isLater) {
        span.version = version;
        span.row.version = version.toString();
      }
      const verdict = judgeResend(before, span);
      if (verdict.kind === "superseded") {
        superseded += 1;
        return { ok: true, row: span.row };
      }

      const isResend = prepared?.isRecalled === true || mayBeResend(before, span);
      const line = prepared === undefined || isLater ? serializeRow(span.row) : prepared.line;
      if (line === undefined) return tooLarge();
      if (prepared !== undefined) prepared.line = line;
      lines.push(isResend ? markResend(line) : line);
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

/** One NDJSON line, without its break; undefined where it is over the bound of a span. */
export function serializeRow(row: SpanRow): string | undefined {
  return withinBound(JSON.stringify(row));
}

/** The line of a row; undefined where it is over the bound of a span. */
export function withinBound(line: string): string | undefined {
  // UTF-8 needs at most three bytes per UTF-16 unit: most rows are surely small without measuring.
  if (line.length * 3 <= limits.spanBytes) return line;
  return Buffer.byteLength(line) <= limits.spanBytes ? line : undefined;
}

export function tooLarge(): RefusedRow {
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
