import { effectiveRetentionDays } from "../domain/organization.ts";
import { randomToken } from "../lib/random-token.ts";
import { jobsLimits } from "./limits.ts";
import type { AuditStore } from "../storage/control/audit-store.ts";
import type { LeaseStore } from "../storage/control/lease-store.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { ScoreStore } from "../storage/control/score-store.ts";
import type { Expired } from "../storage/spans/expired-spans.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

const dayMs = 86_400_000;

export type RetentionDeps = {
  organizations: Pick<OrganizationStore, "list">;
  scores: Pick<ScoreStore, "forgetOlder">;
  spans: Pick<SpanStore, "deleteExpired">;
  auditLog: Pick<AuditStore, "forget">;
  /** Whose round it was: spans have one in `jobsLimits.retentionAgainMs`, whichever node leads, because each rewrites parts. */
  leases: LeaseStore;
  instanceDays: number;
  /** Told of what could not be deleted: of an organization, or spans of all. The job goes on, and tries again the next time. */
  onFailure: (error: unknown, organizationId?: string) => void;
  onDeleted: (expired: Expired) => void;
  /** Told when all is gone through. */
  onEnd: (nowMs: number) => void;
  now: () => number;
};

/**
 * Deletes what organisations no longer want kept. Age counts from receipt: a span whose own clock is wrong, or that
 * was imported, stays its full time. Of scores it counts from when they were made.
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
      await deps.auditLog.forget(id, isoOf(nowMs - jobsLimits.auditDays * dayMs));
      if (cutoffMs !== undefined) await deps.scores.forgetOlder(id, isoOf(cutoffMs));
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
