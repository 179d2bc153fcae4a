import { z } from "zod";
import { changeRole } from "../../auth/members.ts";
import { roles } from "../../domain/permissions.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { memberParams, memberSchema, presentMember } from "./schemas.ts";

export const updateMember = (deps: { stores: ControlStores; nowMs: () => number }) =>
  endpoint({
    id: "update_member",
    method: "PATCH",
    path: "/api/members/{id}/",
    summary: "Change a member's role",
    description:
      "Takes effect immediately, on every node; temporary keys of the previous role end. For an invitation, changes the role that it gives. The last admin cannot be demoted.",
    tags: ["Members"],
    auth: "user",
    permission: "members:manage",
    limit: "api",
    params: memberParams,
    body: {
      kind: "json",
      schema: z.object({ role: z.enum(roles) }),
      shown: memberSchema,
      example: { role: "viewer" },
    },
    success: { status: 200, schema: memberSchema },
    errors: ["invalid_request", "not_found", "conflict"],
    handler: async ({ principal, params, body }) =>
      presentMember(
        await changeRole(deps.stores, {
          unique_organization_id: principal.organization_id,
          id: params.id,
          role: body.role,
          nowMs: deps.nowMs(),
        }),
      ),
  });
