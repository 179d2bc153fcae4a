import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { UserPrincipal } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import { nameSchema, organizationSchema } from "./schemas.ts";

export const updateOrganization = (deps: {
  organizations: Pick<OrganizationStore, "update">;
  /** Called after every change: the gateway caches the setting of provider keys. */
  settingsChanged: (organizationId: string) => void;
}) =>
  endpoint({
    id: "update_organization",
    method: "PATCH",
    path: "/api/organizations/{unique_organization_id}/",
    summary: "Change an organization's name and settings",
    description:
      "For the organization's admins and instance admins. Omitted members keep their value. `test_uses_prod_providers` lets gateway " +
      "calls of test keys use the provider settings of prod if test has none for the provider; false by default.",
    tags: ["Organizations"],
    auth: "user",
    isAudited: true,
    limit: "api",
    params: z.object({ unique_organization_id: z.string().regex(/^[\w-]{1,64}$/) }),
    body: {
      kind: "json",
      example: { retention_days: 90 },
      schema: z.object({
        name: nameSchema.optional(),
        test_uses_prod_providers: z.boolean().optional(),
        retention_days: z.int().min(0).max(domainLimits.retentionDaysMax).nullable().optional(),
      }),
      shown: organizationSchema,
    },
    success: { status: 200, schema: organizationSchema },
    errors: ["forbidden", "not_found"],
    handler: async ({ principal, params, body }) => {
      const id = params.unique_organization_id;
      // Checked first, so that the response does not reveal which organizations exist.
      if (!mayChange(principal, id)) throw new ServiceError("forbidden", "Only its admins change an organization.");
      const organization = await deps.organizations.update(id, definedFields(body));
      deps.settingsChanged(id);
      if (organization === undefined) throw new ServiceError("not_found", "There is no such organization.");
      return organization;
    },
  });

function mayChange(principal: UserPrincipal, uniqueOrganizationId: string): boolean {
  return (
    principal.is_instance_admin || (principal.role === "admin" && principal.organization_id === uniqueOrganizationId)
  );
}
