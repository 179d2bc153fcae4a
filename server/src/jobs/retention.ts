import { effectiveRetentionDays } from "../domain/organization.ts";
import { limits } from "../limits.ts";
import type { AuditStore } from "../storage/control/audit-store.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { ScoreStore } from "../storage/control/score-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

const dayMs = 86_400_000;

/**
 * Deletes what organisations no longer want kept. Age counts from receipt: a span whose own clock is wrong, or that
 * was imported, stays its full time. Of scores it counts from when they were made.
 */
export async function enforceRetention(
  deps: {
    organizations: Pick<OrganizationStore, "list">;
    scores: Pick<ScoreStore, "forgetOlder">;
    spans: Pick<SpanStore, "deleteOlderThan">;
    auditLog: Pick<AuditStore, "forget">;
    instanceDays: number;
    now: () => number;
  },
  signal: AbortSignal,
): Promise<void> {
  for (const organization of await deps.organizations.list()) {
    const { unique_organization_id: id } = organization;
    await deps.auditLog.forget(id, new Date(deps.now() - limits.auditDays * dayMs).toISOString());
    const days = effectiveRetentionDays(organization, deps.instanceDays);
    if (days === null) continue;
    const cutoffMs = deps.now() - days * dayMs;
    await deps.scores.forgetOlder(id, new Date(cutoffMs).toISOString());
    await deps.spans.deleteOlderThan(id, BigInt(cutoffMs) * 1_000_000n, signal);
  }
}
