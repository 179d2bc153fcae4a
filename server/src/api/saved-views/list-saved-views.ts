import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { presentSavedView, savedViewSchema, type SavedViewDeps } from "./saved-view-schemas.ts";

export const listSavedViews = ({ stores }: Pick<SavedViewDeps, "stores">) =>
  endpoint({
    id: "list_saved_views",
    method: "GET",
    path: "/api/saved-views/",
    summary: "List saved views",
    description: "The searches that people of the organization saved for screens of the web application, by name.",
    tags: ["Saved views"],
    auth: "key_or_user",
    permission: "spans:read",
    limit: "api",
    query: z.object({
      ...pagingQuery(),
      screen: z.string().optional().meta({ description: "Only views of this screen." }),
    }),
    success: { status: 200, schema: pageOf(savedViewSchema) },
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize, screen = "" } = query;
      // An organization has a bounded number of views, so the page is sliced here.
      const views = await stores.savedViews.list(principal.organization_id);
      const all = views.filter((view) => screen === "" || view.screen === screen);
      const results = all.slice((page - 1) * pageSize, page * pageSize).map(presentSavedView);
      return paginate({ url, query, page, pageSize, count: all.length, results });
    },
  });
