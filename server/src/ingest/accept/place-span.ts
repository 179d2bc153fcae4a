import { gatewayLogMethod, type SpanRow } from "../../domain/span.ts";
import { parseTimeNs } from "../../lib/time.ts";
import { ingestLimits } from "../limits.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import type { ErasedCustomers } from "./erased-customers.ts";
import { judgeResend, receivedNsOf, versionAfter } from "../../domain/identity.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";

type SpanFacts = Pick<NormalizedSpan, "identity" | "isIdentified" | "timestampNs" | "version">;

export type Arrival = {
  /** Whether the span may have been accepted before. */
  isRecalled: boolean;
  /** Whether it was received some time ago, so that what was received since then may have been accepted already. */
  isRecorded: boolean;
};

/** How an accepted span is written. */
export type Place = {
  version: bigint;
  firstReceivedNs: bigint;
  isResend: boolean;
  /** Set if its customer was deleted since: an upper bound of the time at which the span was first received. */
  erasedReceiptNs: bigint | undefined;
  /** The timestamp of an older version that must be removed. */
  replaces: bigint | undefined;
};

export type PlaceDeps = {
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
export type PlaceSpan = (
  span: SpanFacts,
  subject: SpanRow,
  given: { before: IdentityRecord | undefined } & Arrival,
) => Place | "deleted" | "superseded";

export function createPlaceSpan(deps: PlaceDeps): PlaceSpan {
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
