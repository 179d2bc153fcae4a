import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { TraceDeletion } from "../domain/trace.ts";
import type { SpanCounter } from "../counting/span-counter.ts";
import type { DeletedTraces } from "../ingest/accept/deleted-traces.ts";
import { domainLimits } from "../domain/limits.ts";
import { jobsLimits } from "./limits.ts";
import type { TraceDeletionStore } from "../storage/control/trace-deletion-store.ts";
import type { CountedName } from "../storage/spans/usage-facts.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { Leader } from "./leader.ts";
import { scheduleJob } from "./schedule.ts";

/**
 * Deletes traces: they disappear from every read once `delete` resolves, and from the disk within hours.
 *
 * The order makes it hold. First the deletion is recorded, so that spans arriving from then on are refused. Then
 * everything accepted before is stored, then tombstones hide all of it from reads. Spans still in the journal of
 * another node get their tombstones from `sweep`.
 */
export type TraceDeletions = {
  /** Waits until the spans accepted by this node are visible, at most `jobsLimits.traceDeletionFlushMs`. */
  settle(): Promise<void>;
  /** @throws ServiceError `unavailable` if a store fails; part of the deletion may then be done already. */
  delete(deletions: readonly TraceDeletion[]): Promise<void>;
  /** Learns of other nodes' deletions, and repeats deletions for spans that arrived late. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Frees the disk space of deleted spans, and forgets deletions that are well over a day old. */
  purge(signal: AbortSignal): Promise<void>;
};

export type TraceDeletionDeps = {
  deletions: TraceDeletionStore;
  deletedTraces: DeletedTraces;
  spans: Pick<SpanStore, "deleteTraces" | "purgeDeleted">;
  counter: Pick<SpanCounter, "linkedTo" | "recount">;
  /** Removes their spans from stored webhook payloads. */
  eraseCopies: (deletions: readonly TraceDeletion[]) => Promise<void>;
  /** Resolves once everything accepted so far is stored. */
  flush: () => Promise<void>;
  now: () => number;
};

/** Loads the deletions of the last day. Call it before anything is accepted. */
export async function loadTraceDeletions({
  deletions,
  deletedTraces,
  now,
}: Pick<TraceDeletionDeps, "deletions" | "deletedTraces" | "now">): Promise<void> {
  await learn(deletions, deletedTraces, now() - domainLimits.deletedTraceMs);
}

/** Starts sweeping and purging. Returns a function that stops both. */
export function startTraceDeletions(
  deps: TraceDeletionDeps,
  { leader, logger }: { leader: Pick<Leader, "lead">; logger: Logger },
): { traceDeletions: TraceDeletions; stop: () => Promise<void> } {
  const traceDeletions = createTraceDeletions(deps);
  const sweeping = scheduleJob(
    { name: "trace deletions", everyMs: jobsLimits.traceDeletionSweepEveryMs, logger },
    (signal) => traceDeletions.sweep(signal),
  );
  const purging = scheduleJob(
    { name: "trace purge", everyMs: jobsLimits.traceDeletionPurgeEveryMs, logger },
    (signal) => leader.lead(signal, (leading) => traceDeletions.purge(leading)),
  );
  const stop = async () => {
    await Promise.all([sweeping.stop(), purging.stop()]);
  };
  return { traceDeletions, stop };
}

function createTraceDeletions(deps: TraceDeletionDeps): TraceDeletions {
  const { deletions: store, deletedTraces, spans, counter, eraseCopies, flush, now } = deps;
  let sweptAtMs = now();
  /**
   * The remaining spans of a trace are counted again without the deleted ones, and so are traces linked to it by calls.
   */
  const take = async (deleted: readonly TraceDeletion[], signal?: AbortSignal) => {
    const ofOrganizations = Map.groupBy(deleted, ({ organization_id }) => organization_id);
    const changed = new Map<string, CountedName[]>();
    for (const [organizationId, traces] of ofOrganizations)
      changed.set(organizationId, [...traces, ...(await counter.linkedTo(organizationId, traces))]);
    await spans.deleteTraces(deleted, signal);
    await eraseCopies(deleted);
    for (const [organizationId, traces] of changed) await counter.recount(organizationId, traces);
  };
  const settle = async () => {
    await Promise.race([flush(), sleep(jobsLimits.traceDeletionFlushMs, undefined, { ref: false })]);
  };

  return {
    settle,
    async delete(deletions) {
      await store.add(deletions);
      for (const deletion of deletions) deletedTraces.add(deletion);
      await settle();
      await take(deletions);
    },
    async sweep(signal) {
      const startedAtMs = now();
      await learn(store, deletedTraces, sweptAtMs - domainLimits.traceDeletionOverlapMs);
      const late = sweepAgesMs.flatMap((ageMs) =>
        deletedTraces
          .since(ageMs + startedAtMs - sweptAtMs)
          .filter(({ deletedAtMs }) => deletedAtMs < startedAtMs - ageMs),
      );
      if (late.length > 0) await take(late, signal);
      sweptAtMs = startedAtMs;
    },
    async purge(signal) {
      const recent = deletedTraces.since(domainLimits.deletedTraceMs);
      if (recent.length > 0) await spans.deleteTraces(recent, signal);
      // Purge the tombstones first: spans accepted again before that would be hidden by them.
      await spans.purgeDeleted(BigInt(now() - jobsLimits.traceTombstoneMs) * 1_000_000n, signal);
      await store.deleteBefore(new Date(now() - domainLimits.deletedTraceMs).toISOString());
    },
  };
}

/**
 * Times after a deletion at which it is repeated: at normal load, another node stores accepted spans within a second.
 */
const sweepAgesMs = [3_000, 30_000, 300_000];

async function learn(store: TraceDeletionStore, deletedTraces: DeletedTraces, sinceMs: number): Promise<void> {
  const since = new Date(sinceMs).toISOString();
  let page = await store.list(since);
  for (;;) {
    for (const deletion of page.deletions) deletedTraces.add(deletion);
    if (page.next === undefined) return;
    page = await store.list(since, page.next);
  }
}
