import type { OrganizationStore } from "../storage/control/organization-store.ts";

export type BlockedOrganizations = {
  has: (uniqueOrganizationId: string) => boolean;
  /** Reads the blocked organizations from the store. If that fails, the known ones stay. */
  refresh: () => Promise<void>;
};

/** Organizations that may not write. They are few, so every node caches all of them and refreshes every few seconds. */
export function createBlockedOrganizations(
  organizations: Pick<OrganizationStore, "listBlocked">,
): BlockedOrganizations {
  let blocked: ReadonlySet<string> = new Set();
  return {
    has: (uniqueOrganizationId) => blocked.has(uniqueOrganizationId),
    refresh: async () => {
      blocked = new Set(await organizations.listBlocked());
    },
  };
}
