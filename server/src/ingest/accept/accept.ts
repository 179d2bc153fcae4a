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

/** `unknown`: members of the body that were passed over, a few of them. */
export type AcceptedRow = { ok: true; row: SpanRow; unknown?: readonly string[] };
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
  /**
   * Reads a span at once that is to be accepted later, with others.
   * @param identity 16 bytes (`newIdentity`), taken where the identity does not follow from what the span holds
   */
  prepare(body: unknown, origin: SpanOrigin, identity: Buffer): PrepareOutcome;
  /** The same for a body that was read; undefined where it is too large. */
  prepareRead(read: ReadSpan, origin: SpanOrigin, identity: Buffer): PreparedSpan | undefined;
  /** Makes prepared spans what can wait for others at little cost. */
  hold(spans: readonly PreparedSpan[]): HeldSpans;
  /** Accepts held spans, all of one organisation; what `accept` promises holds once this resolves. */
  acceptHeld(spans: readonly HeldSpan[]): Promise<void>;
};

export type PrepareOutcome = { ok: true; span: PreparedSpan } | RefusedRow;

export type AcceptOptions = {
  /** Names a request that may be repeated. */
  idempotencyKey?: string | undefined;
};

export type SpanIntakeDeps = {
  journal: Journal;
  prices: PriceBook;
  metrics: IngestMetrics;
  /** Called with what was committed, so that the writer stores it. */
  committed: (entry: JournalEntry, payload: Buffer, organizationId: string, rows: readonly SpanRow[]) => void;
  /** Whether somebody wants the span once it is stored: prepared rows that nobody wants are not held. Without it, somebody does. */
  isAwaited?: (row: SpanRow) => boolean;
  /** What is sent again of a deleted trace is accepted and not kept. */
  deletedTraces?: Pick<DeletedTraces, "covers">;
  /** What was received before its customer was deleted is kept without it. */
  erasedCustomers?: Pick<ErasedCustomers, "erasedAtNs">;
  /** Whether this node takes in all spans of the store; without it, others may. */
  isOnlyNode?: boolean;
  /** What others did of spans that were deleted since. */
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
    // What stands in for a superseded row may itself be on its way to the disk still.
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
      // Who waits for one is given all that come with it.
      const areAwaited = spans.some(({ row }) => row !== undefined);
      for (const span of spans) batch.addHeld(areAwaited ? { ...span, row: rowOf(span) } : span);
      // Of calls that were made and answered: the share of their organization bounds what comes by choice.
      await commit(batch, first.subject.organization_id, true);
      const byMethod = Map.groupBy(spans, ({ subject }) => subject.log_method ?? "");
      for (const [log_method, { length }] of byMethod) metrics.accepted.inc({ log_method }, length);
    },
  };
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
