import { effectiveRetentionDays } from "../domain/organization.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

const dayNs = 86_400_000_000_000n;

/**
 * Deletes what organisations no longer want kept. Age counts from receipt: a span whose own clock is wrong, or that
 * was imported, stays its full time.
 */
export async function enforceRetention(
  deps: {
    organizations: Pick<OrganizationStore, "list">;
    spans: Pick<SpanStore, "deleteOlderThan">;
    instanceDays: number;
    now: () => number;
  },
  signal: AbortSignal,
): Promise<void> {
  for (const organization of await deps.organizations.list()) {
    const days = effectiveRetentionDays(organization, deps.instanceDays);
    if (days === null) continue;
    const cutoffNs = BigInt(deps.now()) * 1_000_000n - BigInt(days) * dayNs;
    await deps.spans.deleteOlderThan(organization.unique_organization_id, cutoffNs, signal);
  }
}
