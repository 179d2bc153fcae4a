import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { memberSchema, presentMember } from "./schemas.ts";

export const listMembers = (deps: { stores: Pick<ControlStores, "users" | "invitations">; nowMs: () => number }) =>
  endpoint({
    id: "list_members",
    method: "GET",
    path: "/api/members/",
    summary: "List the organization's members",
    description: "Oldest first, followed by invited people.",
    tags: ["Members"],
    auth: "user",
    permission: "members:read",
    limit: "api",
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(memberSchema) },
    errors: [],
    handler: async ({ principal, query, url }) => {
      const organization = principal.organization_id;
      const { users, invitations } = deps.stores;
      const [members, invited] = await Promise.all([
        users.list(organization),
        invitations.list(organization, new Date(deps.nowMs()).toISOString()),
      ]);
      const all = [...members, ...invited];
      const { page, page_size: pageSize } = query;
      const results = all.slice((page - 1) * pageSize, page * pageSize).map(presentMember);
      return paginate({ url, query, page, pageSize, count: all.length, results });
    },
  });
