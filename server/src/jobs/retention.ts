import { domainLimits } from "../domain/limits.ts";
import { effectiveRetentionDays } from "../domain/organization.ts";
import { randomToken } from "../lib/random-token.ts";
import type { AuditStore } from "../storage/control/audit-store.ts";
import type { LeaseStore } from "../storage/control/lease-store.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { ScoreStore } from "../storage/control/score-store.ts";
import type { Expired } from "../storage/spans/expired-spans.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { jobsLimits } from "./limits.ts";

const dayMs = 86_400_000;

export type RetentionDeps = {
  organizations: Pick<OrganizationStore, "list">;
  scores: Pick<ScoreStore, "deleteBefore">;
  spans: Pick<SpanStore, "deleteExpired">;
  auditLog: Pick<AuditStore, "deleteBefore">;
  /**
   * Leases the round over spans: one per `jobsLimits.retentionAgainMs` on all nodes together, because each round
   * rewrites parts.
   */
  leases: LeaseStore;
  instanceDays: number;
  /**
   * Called when a deletion failed, for an organization or for the spans of all. The job continues and retries in the
   * next round.
   */
  onFailure: (error: unknown, organizationId?: string) => void;
  onDeleted: (expired: Expired) => void;
  /** Called at the end of a round. */
  onEnd: (nowMs: number) => void;
  now: () => number;
};

/**
 * Deletes data that is older than its retention. The age of a span counts from its receipt: a span with a wrong clock,
 * or an imported one, stays its full time. The age of a score counts from its creation.
 */
export async function enforceRetention(deps: RetentionDeps, signal: AbortSignal): Promise<void> {
  const nowMs = deps.now();
  const cutoffs = new Map<string, bigint>();
  for (const organization of await deps.organizations.list()) {
    signal.throwIfAborted();
    const { unique_organization_id: id } = organization;
    const days = effectiveRetentionDays(organization, deps.instanceDays);
    const cutoffMs = days === null ? undefined : nowMs - days * dayMs;
    if (cutoffMs !== undefined) cutoffs.set(id, BigInt(cutoffMs) * 1_000_000n);
    try {
      await deps.auditLog.deleteBefore(id, isoOf(nowMs - jobsLimits.auditDays * dayMs));
      if (cutoffMs !== undefined) await deps.scores.deleteBefore(id, isoOf(cutoffMs));
    } catch (error) {
      signal.throwIfAborted();
      deps.onFailure(error, id);
    }
  }
  await deleteSpans(deps, cutoffs, signal);
  deps.onEnd(deps.now());
}

async function deleteSpans(
  { leases, spans, now, onDeleted, onFailure }: RetentionDeps,
  cutoffs: ReadonlyMap<string, bigint>,
  signal: AbortSignal,
): Promise<void> {
  const round = { name: "retention of spans", owner: randomToken(12) };
  const nowMs = now();
  if (!(await leases.take({ ...round, now: isoOf(nowMs), until: isoOf(nowMs + jobsLimits.retentionAgainMs) }))) return;
  try {
    onDeleted(await spans.deleteExpired(cutoffs, signal));
  } catch (error) {
    await leases.release(round);
    signal.throwIfAborted();
    onFailure(error);
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** Deletes media that no span refers to any more. Recent media may belong to spans that are still in a journal. */
export async function sweepUnusedMedia(
  { spans, now }: { spans: Pick<SpanStore, "sweepMedia">; now: () => number },
  signal: AbortSignal,
): Promise<void> {
  await spans.sweepMedia(now() - domainLimits.mediaUnusedMs, signal);
}
