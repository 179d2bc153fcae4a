import { z } from "zod";
import { findInvitation, invitationNotFound } from "../../auth/members.ts";
import { roles } from "../../domain/permissions.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";

export const retrieveInvitation = (deps: {
  stores: Pick<ControlStores, "invitations" | "organizations">;
  nowMs: () => number;
}) =>
  endpoint({
    id: "retrieve_invitation",
    method: "GET",
    path: "/api/invitations/{token}/",
    summary: "Retrieve an invitation",
    description: "Needs no credentials except the token in the link. POST the chosen password to the same address.",
    tags: ["Members"],
    auth: "none",
    limit: "public_trace",
    success: {
      status: 200,
      schema: z.object({
        email: z.string(),
        role: z.enum(roles),
        organization_name: z.string(),
        expires_at: z.string().meta({ format: "date-time" }),
      }),
    },
    errors: ["not_found"],
    handler: async ({ params }) => {
      const invitation = await findInvitation(deps.stores, params.token, deps.nowMs());
      if (invitation === undefined) throw invitationNotFound();
      const { email, role, expires_at } = invitation;
      const organization = await deps.stores.organizations.find(invitation.unique_organization_id);
      return { email, role, organization_name: organization?.name ?? "", expires_at };
    },
  });
