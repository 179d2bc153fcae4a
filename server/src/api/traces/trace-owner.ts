import type { Organization } from "../../domain/organization.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";

/** The organization of a trace, as far as its members tell of it. */
export type TraceOwner = Pick<Organization, "unique_organization_id" | "name">;

/** Asked each time, as an organization may be renamed; without a name when it is gone since. */
export async function findTraceOwner(
  organizations: Pick<OrganizationStore, "find">,
  unique_organization_id: string,
): Promise<TraceOwner> {
  return (await organizations.find(unique_organization_id)) ?? { unique_organization_id, name: "" };
}
