import type { OrganizationStore } from "../storage/control/organization-store.ts";

export type BlockedOrganizations = {
  has: (uniqueOrganizationId: string) => boolean;
  /** Reads from the store who is blocked. What was known stays known while the store does not answer. */
  refresh: () => Promise<void>;
};

/** Who may not write. They are few, so every node keeps them all and reads them again every few seconds. */
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
