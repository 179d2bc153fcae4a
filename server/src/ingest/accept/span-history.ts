import type { Logger } from "pino";
import { parseTimeNs } from "../../lib/time.ts";
import { domainLimits } from "../../domain/limits.ts";
import { ingestLimits } from "../limits.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { deletionVersion, type StoredVersion } from "../../storage/spans/usage-facts.ts";
import type { DeletedTraces } from "./deleted-traces.ts";
import type { ErasedCustomers } from "./erased-customers.ts";
import { formatUuid } from "../../domain/identity.ts";
import type { NormalizedSpan, NormalizeResult } from "../normalize/normalize.ts";

/**
 * Used if several nodes write to one store: reads the stored versions of spans whose trace or customer was deleted, and
 * which another node may have received before. Other spans are not looked up, so that the intake does not wait for the
 * store.
 */
export type SpanHistory = {
  /**
   * Records by identity, as `latin1` text, for the spans that need a lookup; undefined if none does. Empty if the store
   * does not respond in time: the spans then count as new.
   */
  findRecords(
    organizationId: string,
    spans: readonly NormalizeResult[],
  ): Promise<ReadonlyMap<string, IdentityRecord> | undefined>;
};

export function createSpanHistory({
  spans: store,
  journal,
  deletedTraces,
  erasedCustomers,
  logger,
}: {
  spans: Pick<SpanStore, "readVersions">;
  journal: Pick<Journal, "lookup">;
  deletedTraces: Pick<DeletedTraces, "has" | "covers">;
  erasedCustomers: Pick<ErasedCustomers, "erasedAtNs">;
  logger: Logger;
}): SpanHistory {
  /** The deleted version of a deleted span, which has its end; otherwise the version that is current. */
  const recordOf = (
    { row, identity }: NormalizedSpan,
    versions: readonly StoredVersion[],
  ): IdentityRecord | undefined => {
    const dated = versions.flatMap((version) => {
      const timestampNs = parseTimeNs(version.timestamp);
      const receivedNs = parseTimeNs(version.received_at);
      return timestampNs === undefined || receivedNs === undefined ? [] : [{ ...version, timestampNs, receivedNs }];
    });
    const [first] = dated;
    if (first === undefined) return undefined;
    const firstReceivedNs = dated.reduce(
      (least, { receivedNs }) => (receivedNs < least ? receivedNs : least),
      first.receivedNs,
    );
    const deleted = dated.find(
      ({ version, timestampNs }) => version === deletionVersion && deletedTraces.covers(row, timestampNs),
    );
    if (deleted !== undefined) return { timestampNs: deleted.timestampNs, version: deleted.version, firstReceivedNs };
    if (journal.lookup(identity) !== undefined) return undefined;
    const current = dated.filter(({ isTombstone }) => !isTombstone).sort((a, b) => (a.version < b.version ? 1 : -1))[0];
    return current && { timestampNs: current.timestampNs, version: current.version, firstReceivedNs };
  };
  const needsLookup = ({ row, identity, isIdentified }: NormalizedSpan): boolean => {
    if (!isIdentified) return false;
    if (deletedTraces.has(row)) return true;
    return erasedCustomers.erasedAtNs(row) !== undefined && journal.lookup(identity) === undefined;
  };
  return {
    async findRecords(organizationId, read) {
      const spans = read.flatMap((each) => (each.ok && needsLookup(each.span) ? each.span : []));
      if (spans.length === 0) return undefined;
      const found = new Map<string, IdentityRecord>();
      try {
        const signal = AbortSignal.timeout(ingestLimits.spanHistoryMs);
        for (let from = 0; from < spans.length; from += domainLimits.dividedIdsRead) {
          const some = spans.slice(from, from + domainLimits.dividedIdsRead);
          const ids = some.map(({ identity }) => formatUuid(identity));
          const versions = Map.groupBy(
            await store.readVersions({ organizationId, ids }, signal),
            (each) => each.unique_id,
          );
          for (const [index, span] of some.entries()) {
            const record = recordOf(span, versions.get(ids[index] ?? "") ?? []);
            if (record !== undefined) found.set(span.identity.toString("latin1"), record);
          }
        }
      } catch (error) {
        logger.warn({ err: error }, "deleted spans could not be looked up; spans are accepted as new");
      }
      return found;
    },
  };
}
