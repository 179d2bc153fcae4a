import { gatewayLogMethod } from "../../domain/span.ts";
import { parseTimeNs } from "../../lib/time.ts";
import { ingestLimits } from "../limits.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import type { ErasedCustomers } from "./erased-customers.ts";
import { judgeResend, receivedNsOf, versionAfter } from "../../domain/identity.ts";
import type { NormalizedSpan } from "../normalize/normalize.ts";
import type { SpanSubject } from "./prepared-span.ts";

export type SpanFacts = Pick<NormalizedSpan, "identity" | "isIdentified" | "timestampNs" | "version">;

/** What is to be written of an accepted span. */
export type Place = {
  version: bigint;
  firstReceivedNs: bigint;
  isResend: boolean;
  /** The latest time at which it was received first, where its customer was deleted since. */
  erasedReceiptNs: bigint | undefined;
  /** The timestamp of an older version that must go. */
  replaces: bigint | undefined;
};

export type PlaceDeps = {
  journal: Pick<Journal, "completeSinceMs">;
  deletedTraces: Pick<DeletedTraces, "covers"> | undefined;
  erasedCustomers: Pick<ErasedCustomers, "erasedAtNs"> | undefined;
  /** Whether this node takes in all spans of the store, so that it knows what was sent before. */
  isOnlyNode: boolean;
  nowMs: number;
};

/**
 * Judges a span by the version of it that was accepted before. Where it is left out, says why: its trace was `deleted`, or
 * a fuller version was accepted before (`superseded`).
 */
export type PlaceSpan = (
  span: SpanFacts,
  subject: SpanSubject,
  given: { before: IdentityRecord | undefined; isRecalled: boolean },
) => Place | "deleted" | "superseded";

export function createPlaceSpan(deps: PlaceDeps): PlaceSpan {
  const { journal, deletedTraces, erasedCustomers, isOnlyNode, nowMs } = deps;
  // A span is received after its end, clocks being an hour apart at most: of what ended in between, resends are known.
  const knownFromNs = BigInt(journal.completeSinceMs() + ingestLimits.clockSkewMs) * 1_000_000n;
  const knownToNs = BigInt(nowMs + ingestLimits.clockSkewMs) * 1_000_000n;
  const mayBeResend = (before: IdentityRecord | undefined, { isIdentified, timestampNs }: SpanFacts): boolean =>
    before !== undefined || (isIdentified && (timestampNs < knownFromNs || timestampNs > knownToNs));

  /** See docs/adr/0036-erasure-is-permanent.md. */
  const erasedReceipt = (
    span: SpanFacts,
    subject: SpanSubject,
    before: IdentityRecord | undefined,
  ): bigint | undefined => {
    const erasedNs = erasedCustomers?.erasedAtNs(subject);
    if (erasedNs === undefined) return undefined;
    const firstReceivedNs = before?.firstReceivedNs ?? receivedNsOf(span.version);
    if (firstReceivedNs <= erasedNs) return firstReceivedNs;
    // A call that was under way; else of what is not known to be new, what ended before.
    const isKnown = before !== undefined || (isOnlyNode && span.isIdentified && !mayBeResend(before, span));
    const isOfBefore =
      subject.log_method === gatewayLogMethod
        ? (parseTimeNs(subject.start_time ?? "") ?? 0n) <= erasedNs
        : !isKnown && span.timestampNs <= erasedNs;
    return isOfBefore ? erasedNs : undefined;
  };

  return (span, subject, { before, isRecalled }) => {
    // An earlier version tells when a span ended that is sent without saying so.
    const isCovered = (endNs: bigint | undefined): boolean =>
      endNs !== undefined && deletedTraces?.covers(subject, endNs) === true;
    if (isCovered(span.timestampNs) || isCovered(before?.timestampNs)) return "deleted";
    const version = versionAfter(before, span.version);
    const verdict = judgeResend(before, { timestampNs: span.timestampNs, version });
    // Of what is recalled, the very row may be there, or one that came after it.
    const isThere = isRecalled && before !== undefined && before.version >= span.version;
    if (isThere || verdict.kind === "superseded") return "superseded";
    return {
      version,
      firstReceivedNs: before?.firstReceivedNs ?? receivedNsOf(version),
      isResend: isRecalled || mayBeResend(before, span),
      erasedReceiptNs: erasedReceipt(span, subject, before),
      replaces: verdict.kind === "wins" ? verdict.replaces : undefined,
    };
  };
}
