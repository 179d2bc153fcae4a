import type { ErrorCode, FieldErrors } from "../../domain/errors.ts";
import type { SpanRow } from "../../domain/span.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { Journal, JournalEntry } from "../../storage/journal/journal.ts";
import type { IngestMetrics } from "../../telemetry/ingest-metrics.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import type { ErasedCustomers } from "./erased-customers.ts";
import { createNestedJson } from "../../validation/nested-json.ts";
import { normalizeSpan, normalizeValues, type SpanOrigin } from "../normalize/normalize.ts";
import { createSpanHolder, rowOf, type HeldSpan, type HeldSpans, type PreparedSpan } from "./prepared-span.ts";
import { lineWith, type ReadSpan } from "./read-span.ts";
import {
  createSpanBatch,
  encodeLines,
  serializeRow,
  tooLarge,
  withinBound,
  type SpanBatch,
  type SpanBatchDeps,
} from "./span-batch.ts";
import type { SpanHistory } from "./span-history.ts";

/** `unknown`: some of the members of the body that were ignored. */
export type AcceptedRow = { ok: true; row: SpanRow; unknown?: readonly string[] };
export type RefusedRow = { ok: false; code: ErrorCode; errors: FieldErrors };
export type RowOutcome = AcceptedRow | RefusedRow;

/**
 * Accepts spans: once `accept` resolves, every accepted row is on disk and will be stored exactly once. Rows are
 * independent: a bad one is refused without the others. Outcomes are in the order of the bodies.
 *
 * @throws ServiceError `unavailable` if the journal cannot take the rows; then none is accepted.
 */
export type SpanIntake = {
  accept(bodies: readonly unknown[], origin: SpanOrigin, options?: AcceptOptions): Promise<RowOutcome[]>;
  /**
   * Reads a span now that will be accepted later, in a batch.
   * @param identity 16 bytes (`newIdentity`), used if the identity cannot be derived from the span
   */
  prepare(body: unknown, origin: SpanOrigin, identity: Buffer): PrepareOutcome;
  /** The same for a body that was read already. Returns undefined if the row is too large. */
  prepareRead(read: ReadSpan, origin: SpanOrigin, identity: Buffer): PreparedSpan | undefined;
  /** Converts prepared spans to a form that is cheap to buffer. */
  hold(spans: readonly PreparedSpan[]): HeldSpans;
  /** Accepts buffered spans, all of one organization, with the guarantees of `accept`. */
  acceptHeld(spans: readonly HeldSpan[]): Promise<void>;
};

export type PrepareOutcome = { ok: true; span: PreparedSpan } | RefusedRow;

export type AcceptOptions = {
  /** Identifies a request that may be repeated. */
  idempotencyKey?: string | undefined;
};

export type SpanIntakeDeps = {
  journal: Journal;
  prices: PriceBook;
  metrics: IngestMetrics;
  /** Called with each committed entry, so that the writer stores it. */
  committed: (entry: JournalEntry, payload: Buffer, organizationId: string, rows: readonly SpanRow[]) => void;
  /** Whether a subscriber wants the span once it is stored; the row object is only kept if so. Defaults to true. */
  isAwaited?: (row: SpanRow) => boolean;
  /** Resends of spans of a deleted trace are accepted and dropped. */
  deletedTraces?: Pick<DeletedTraces, "covers">;
  /** Spans received before their customer was deleted are stored without the customer. */
  erasedCustomers?: Pick<ErasedCustomers, "erasedAtNs">;
  /** Whether this node takes in all spans of the store. Defaults to false: other nodes may too. */
  isOnlyNode?: boolean;
  /** Versions of spans that other nodes received, in case their trace or customer was deleted. */
  history?: SpanHistory | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
};

export function createSpanIntake({
  journal,
  prices,
  metrics,
  committed,
  isAwaited = () => true,
  deletedTraces,
  erasedCustomers,
  isOnlyNode = false,
  history,
  now,
}: SpanIntakeDeps): SpanIntake {
  const nextReceivedNs = createReceiptClock(now);
  const newBatch = (stored?: SpanBatchDeps["stored"]) =>
    createSpanBatch({ journal, deletedTraces, erasedCustomers, isOnlyNode, stored, nowMs: now() });

  const commit = async (batch: SpanBatch, organizationId: string, isOwed = false): Promise<void> => {
    if (batch.lines.length > 0) {
      const payload = encodeLines(batch.lines);
      const { length: rows } = batch.lines;
      const [identities, hasResends] = [batch.identities(), batch.hasResends()];
      const appended = journal.append({ payload, rows, identities, hasResends, isOwed });
      const entry = await appended.catch((error: unknown) => {
        metrics.journalRefusals.inc();
        throw error;
      });
      committed(entry, payload, organizationId, batch.rows);
    }
    // The version that supersedes a row may itself not be on disk yet.
    if (batch.hasSuperseded()) await journal.settled();
  };

  return {
    async accept(bodies, origin, { idempotencyKey } = {}) {
      const nested = createNestedJson(domainLimits.bodyNodes);
      const normalize = (body: unknown, index: number) =>
        normalizeSpan(body, origin, {
          receivedNs: nextReceivedNs(),
          prices,
          nested,
          idempotencyKey: idempotencyKey === undefined ? undefined : `${idempotencyKey}\n${index}`,
        });
      const read = history && bodies.map(normalize);
      const batch = newBatch(read && (await history.findAsked(origin.organization_id, read)));
      const outcomes = bodies.map((body, index): RowOutcome => {
        const normalized = read?.[index] ?? normalize(body, index);
        if (!normalized.ok) return { ok: false, code: "validation_failed", errors: normalized.errors };
        const [outcome, { unknown }] = [batch.add(normalized.span), normalized];
        return outcome.ok && unknown !== undefined ? { ...outcome, unknown } : outcome;
      });
      await commit(batch, origin.organization_id);
      const accepted = outcomes.filter((outcome) => outcome.ok).length;
      metrics.accepted.inc({ log_method: origin.log_method }, accepted);
      metrics.refused.inc({ log_method: origin.log_method }, outcomes.length - accepted);
      return outcomes;
    },
    prepare(body, origin, identity) {
      const nested = createNestedJson(domainLimits.bodyNodes);
      const normalized = normalizeSpan(body, origin, { receivedNs: nextReceivedNs(), prices, nested, identity });
      const line = normalized.ok ? serializeRow(normalized.span.row) : undefined;
      if (normalized.ok && line !== undefined) return { ok: true, span: { ...normalized.span, line, pieces: [line] } };
      metrics.refused.inc({ log_method: origin.log_method });
      return normalized.ok ? tooLarge() : { ok: false, code: "validation_failed", errors: normalized.errors };
    },
    prepareRead({ values, written }, origin, identity) {
      const span = normalizeValues(values, origin, { receivedNs: nextReceivedNs(), prices, identity });
      const { whole, pieces } = lineWith(span.row, written);
      const line = withinBound(whole);
      return line === undefined ? undefined : { ...span, line, pieces };
    },
    hold: createSpanHolder(isAwaited),
    async acceptHeld(spans) {
      const [first] = spans;
      if (first === undefined) return;
      const batch = newBatch();
      // If one span is awaited, subscribers get all rows of the batch.
      const areAwaited = spans.some(({ row }) => row !== undefined);
      for (const span of spans) batch.addHeld(areAwaited ? { ...span, row: rowOf(span) } : span);
      // These calls were already answered: the organization's share of the journal only limits what senders choose to
      // send.
      await commit(batch, first.subject.organization_id, true);
      const byMethod = Map.groupBy(spans, ({ subject }) => subject.log_method ?? "");
      for (const [log_method, { length }] of byMethod) metrics.accepted.inc({ log_method }, length);
    },
  };
}

/** Nanoseconds since the epoch, strictly rising, also when the system clock is set back. */
function createReceiptClock(now: () => number): () => bigint {
  let last = 0n;
  return () => {
    const current = BigInt(Math.round(now() * 1000)) * 1000n;
    last = current > last ? current : last + 1n;
    return last;
  };
}
