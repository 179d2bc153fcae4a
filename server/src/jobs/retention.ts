import { effectiveRetentionDays, type Organization } from "../domain/organization.ts";
import { randomToken } from "../lib/random-token.ts";
import { limits } from "../limits.ts";
import type { AuditStore } from "../storage/control/audit-store.ts";
import type { LeaseStore } from "../storage/control/lease-store.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { ScoreStore } from "../storage/control/score-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

const dayMs = 86_400_000;

export type RetentionDeps = {
  organizations: Pick<OrganizationStore, "list">;
  scores: Pick<ScoreStore, "forgetOlder">;
  spans: Pick<SpanStore, "deleteOlderThan">;
  auditLog: Pick<AuditStore, "forget">;
  /** Who had a turn, so that none has two in `limits.retentionAgainMs`, whichever node leads: each rewrites parts. */
  leases: LeaseStore;
  instanceDays: number;
  /** Called for an organization whose deletion failed. The job goes on with the others. */
  onFailure: (error: unknown, organizationId: string) => void;
  /** Told when all have had their turn. */
  onEnd: (nowMs: number) => void;
  now: () => number;
};

/**
 * Deletes what organisations no longer want kept. Age counts from receipt: a span whose own clock is wrong, or that
 * was imported, stays its full time. Of scores it counts from when they were made.
 */
export async function enforceRetention(deps: RetentionDeps, signal: AbortSignal): Promise<void> {
  for (const organization of await deps.organizations.list()) {
    signal.throwIfAborted();
    try {
      await enforceOn(organization, deps, signal);
    } catch (error) {
      signal.throwIfAborted();
      deps.onFailure(error, organization.unique_organization_id);
    }
  }
  deps.onEnd(deps.now());
}

async function enforceOn(
  organization: Organization,
  deps: Omit<RetentionDeps, "organizations">,
  signal: AbortSignal,
): Promise<void> {
  const { unique_organization_id: id } = organization;
  await deps.auditLog.forget(id, new Date(deps.now() - limits.auditDays * dayMs).toISOString());
  const days = effectiveRetentionDays(organization, deps.instanceDays);
  if (days === null) return;
  const nowMs = deps.now();
  const turn = { name: `retention of ${id}`, owner: randomToken(12) };
  const until = new Date(nowMs + limits.retentionAgainMs).toISOString();
  if (!(await deps.leases.take({ ...turn, now: new Date(nowMs).toISOString(), until }))) return;
  const cutoffMs = nowMs - days * dayMs;
  try {
    await deps.scores.forgetOlder(id, new Date(cutoffMs).toISOString());
    await deps.spans.deleteOlderThan(id, BigInt(cutoffMs) * 1_000_000n, signal);
  } catch (error) {
    await deps.leases.release(turn);
    throw error;
  }
}
