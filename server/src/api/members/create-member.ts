import { z } from "zod";
import { inviteMember } from "../../auth/members.ts";
import { roles } from "../../domain/permissions.ts";
import { endpoint } from "../../http/endpoint.ts";
import { authLimits } from "../../auth/limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { emailSchema } from "../auth/schemas.ts";
import { memberSchema, presentMember } from "./schemas.ts";

const days = authLimits.invitationMs / 86_400_000;

export const createMember = (deps: { stores: ControlStores; nowMs: () => number }) =>
  endpoint({
    id: "invite_member",
    method: "POST",
    path: "/api/members/",
    summary: "Invite a member",
    description:
      `\`invite_url\` is shown only once: the person who opens it within ${days} days chooses a password and becomes a member. The link works once. ` +
      "Inviting the same address again creates a new link; the old one stops working.",
    tags: ["Members"],
    auth: "user",
    permission: "members:manage",
    limit: "api",
    body: {
      kind: "json",
      schema: z.object({ email: emailSchema, role: z.enum(roles).default("member") }),
      shown: memberSchema,
      example: { email: "ada@example.com", role: "member" },
    },
    success: {
      status: 201,
      schema: memberSchema.extend({ invite_url: z.string().meta({ format: "uri" }), invite_token: z.string() }),
    },
    errors: ["invalid_request", "conflict"],
    handler: async ({ principal, body, url }) => {
      const { invitation, token } = await inviteMember(deps.stores, {
        ...body,
        unique_organization_id: principal.organization_id,
        nowMs: deps.nowMs(),
      });
      // Relative, to keep a prefix that a proxy has put before the path of this request.
      const link = new URL(`${url.pathname.endsWith("/") ? "../../" : "../"}invite/${token}`, url);
      return { ...presentMember(invitation), invite_url: link.href, invite_token: token };
    },
  });
