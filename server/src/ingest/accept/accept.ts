import { wholeBody, type ErrorCode, type FieldErrors } from "../../domain/errors.ts";
import type { SpanRow } from "../../domain/span.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { IngestMetrics } from "../../telemetry/ingest-metrics.ts";
import type { FanOut } from "../fan-out/fan-out.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import type { ErasedCustomers } from "./erased-customers.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import { normalizeSpan, type NormalizedSpan, type NormalizeResult, type SpanOrigin } from "../normalize/normalize.ts";
import { addReduced, type RecordedCall } from "./recorded-call.ts";
import { createSpanBatch, encodeLines, type Arrival, type SpanBatch, type SpanBatchDeps } from "./span-batch.ts";
import type { SpanHistory } from "./span-history.ts";
import type { SpanWriter } from "../writer/writer.ts";

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
   * Accepts finished calls, all of one organization, with the guarantees of `accept`. A call that is refused is accepted
   * without the fields that were refused, or finally without any content. The organization's share of the journal does
   * not limit them: their responses were sent already.
   */
  acceptCalls(calls: readonly RecordedCall[], options: AcceptCallsOptions): Promise<CallOutcome[]>;
  /** Accepts rows again, all of one organization, that this or another process accepted before. */
  acceptAgain(spans: readonly NormalizedSpan[]): Promise<void>;
};

export type AcceptOptions = {
  /** Identifies a request that may be repeated. */
  idempotencyKey?: string | undefined;
};

/** `row` only of calls that are recalled: rows of all calls would be expensive to keep until they are on disk. */
export type CallOutcome = { ok: true; row?: SpanRow } | RefusedRow;

export type AcceptCallsOptions = {
  /** Whether they may have been accepted before. */
  isRecalled: boolean;
  /** Called with faults of the intake; the call is accepted without content then. */
  onFault: (error: unknown) => void;
};

export type SpanIntakeDeps = {
  journal: Journal;
  prices: PriceBook;
  metrics: IngestMetrics;
  /** Selects rows before the commit; the others are released while the journal writes. */
  fanOut?: Pick<FanOut, "select" | "buffer">;
  /** Stores each committed entry. */
  writer: Pick<SpanWriter, "add">;
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

export function createSpanIntake(deps: SpanIntakeDeps): SpanIntake {
  const { journal, prices, metrics, fanOut, writer, isOnlyNode = false, history, now } = deps;
  const { deletedTraces, erasedCustomers } = deps;
  const nextReceivedNs = createReceiptClock(now);
  const newBatch = (stored?: SpanBatchDeps["stored"]) =>
    createSpanBatch({ journal, deletedTraces, erasedCustomers, isOnlyNode, stored, nowMs: now() });

  /** Keeps nothing of the batch while the journal writes, but what was selected of it. */
  const commit = (batch: SpanBatch, organizationId: string, isExemptFromShare = false): Promise<void> => {
    // The version that supersedes a row may itself not be on disk yet.
    const settle = batch.hasSuperseded() ? () => journal.settled() : () => undefined;
    if (batch.lines.length === 0) return Promise.resolve(settle());
    const payload = encodeLines(batch.lines);
    const selected = fanOut?.select(organizationId, batch.rows, payload.length);
    const { length: rows } = batch.lines;
    const [identities, hasResends] = [batch.identities(), batch.hasResends()];
    const party = organizationId;
    return journal.append({ payload, rows, identities, party, hasResends, isExemptFromShare }).then(
      (entry) => {
        fanOut?.buffer(entry.seq, selected);
        writer.add(entry, payload);
        return settle();
      },
      (error: unknown) => {
        metrics.journalRefusals.inc();
        throw error;
      },
    );
  };

  const count = (log_method: string, outcomes: ReadonlyArray<{ ok: boolean }>): void => {
    const accepted = outcomes.filter((outcome) => outcome.ok).length;
    metrics.accepted.inc({ log_method }, accepted);
    metrics.refused.inc({ log_method }, outcomes.length - accepted);
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
      const batch = newBatch(read && (await history.findRecords(origin.organization_id, read)));
      const outcomes = bodies.map((body, index) => addTo(batch, read?.[index] ?? normalize(body, index)));
      await commit(batch, origin.organization_id);
      count(origin.log_method, outcomes);
      return outcomes;
    },
    acceptCalls(calls, { isRecalled, onFault }) {
      const { organization_id = "", log_method = "" } = calls[0]?.origin ?? {};
      const nested = createNestedJson(domainLimits.bodyNodes);
      const batch = newBatch();
      const outcomes = calls.map(({ body, origin, identity, receivedNs }): CallOutcome => {
        const outcome = addReduced(body, (some) => {
          try {
            const normalized = normalizeSpan(some, origin, { receivedNs, prices, nested, identity });
            return addTo(batch, normalized, { isRecalled, isRecorded: true });
          } catch (error) {
            onFault(error);
            return { ok: false, code: "internal", errors: { [wholeBody]: ["cannot be read"] } };
          }
        });
        return outcome.ok && !isRecalled ? { ok: true } : outcome;
      });
      return commit(batch, organization_id, true).then(() => {
        count(log_method, outcomes);
        return outcomes;
      });
    },
    async acceptAgain(spans) {
      const [first] = spans;
      if (first === undefined) return;
      const batch = newBatch();
      for (const span of spans) batch.add(span, { isRecalled: true, isRecorded: true });
      await commit(batch, first.row.organization_id, true);
      for (const { row } of spans) metrics.accepted.inc({ log_method: row.log_method ?? "" });
    },
  };
}

function addTo(batch: SpanBatch, normalized: NormalizeResult, arrival?: Arrival): RowOutcome {
  if (!normalized.ok) return { ok: false, code: "validation_failed", errors: normalized.errors };
  const { span, unknown } = normalized;
  const outcome = batch.add(span, arrival);
  return outcome.ok && unknown !== undefined ? { ...outcome, unknown } : outcome;
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
