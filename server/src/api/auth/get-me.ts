import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { permissions, roles } from "../../domain/permissions.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import { organizationSchema } from "../organizations/schemas.ts";

const meSchema = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(roles),
  is_instance_admin: z.boolean().meta({ description: "May create organizations, and set prices for all of them." }),
  permissions: z.array(z.enum(permissions)),
  organization: organizationSchema,
});

export const getMe = (deps: { organizations: Pick<OrganizationStore, "find"> }) =>
  endpoint({
    id: "get_me",
    method: "GET",
    path: "/api/auth/me/",
    summary: "Retrieve the current user",
    tags: ["Authentication"],
    auth: "user",
    limit: "api",
    success: { status: 200, schema: meSchema },
    errors: [],
    handler: async ({ principal }) => {
      const organization = await deps.organizations.find(principal.organization_id);
      if (organization === undefined) throw new ServiceError("not_found", "Your organization no longer exists.");
      return {
        id: principal.user_id,
        email: principal.email,
        role: principal.role,
        is_instance_admin: principal.is_instance_admin,
        permissions: [...principal.permissions],
        organization,
      };
    },
  });
