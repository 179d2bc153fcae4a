import type { Organization } from "../../domain/organization.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";

/** The organization of a trace, with the members that a trace shows. */
export type TraceOwner = Pick<Organization, "unique_organization_id" | "name">;

/** Read each time, because an organization may be renamed; without a name if it was deleted meanwhile. */
export async function findTraceOwner(
  organizations: Pick<OrganizationStore, "find">,
  unique_organization_id: string,
): Promise<TraceOwner> {
  return (await organizations.find(unique_organization_id)) ?? { unique_organization_id, name: "" };
}
