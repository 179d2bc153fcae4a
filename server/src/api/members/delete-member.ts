import { removeMember } from "../../auth/members.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { memberParams } from "./schemas.ts";

export const deleteMember = (deps: { stores: ControlStores }) =>
  endpoint({
    id: "delete_member",
    method: "DELETE",
    path: "/api/members/{id}/",
    summary: "Remove a member, or withdraw an invitation",
    description:
      "Sessions, tokens and temporary keys end immediately, on every node. API keys of the organization remain valid: revoke those that the person knows. " +
      "The last admin cannot be removed.",
    tags: ["Members"],
    auth: "user",
    permission: "members:manage",
    limit: "api",
    params: memberParams,
    success: { status: 204 },
    errors: ["not_found", "conflict"],
    handler: async ({ principal, params }) => {
      await removeMember(deps.stores, principal.organization_id, params.id);
      return reply(204);
    },
  });
