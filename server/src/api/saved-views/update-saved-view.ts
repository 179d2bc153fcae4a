import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import {
  presentSavedView,
  savedViewChangeSchema,
  savedViewNotFound,
  savedViewParams,
  savedViewSchema,
  type SavedViewDeps,
} from "./saved-view-schemas.ts";

export const updateSavedView = ({ stores, nowMs }: SavedViewDeps) =>
  endpoint({
    id: "update_saved_view",
    method: "PATCH",
    path: "/api/saved-views/{id}/",
    summary: "Change a saved view",
    description: "Its name, its search or both. Omitted members keep their value.",
    tags: ["Saved views"],
    auth: "key_or_user",
    permission: "views:write",
    limit: "api",
    params: savedViewParams,
    body: {
      kind: "json",
      schema: savedViewChangeSchema,
      shown: savedViewSchema,
      example: { name: "Errors of 7 days" },
    },
    success: { status: 200, schema: savedViewSchema },
    errors: ["invalid_request", "not_found", "conflict"],
    handler: async ({ principal, params, body }) => {
      const organization = principal.organization_id;
      const change = { ...definedFields(body), updated_at: new Date(nowMs()).toISOString() };
      const view = await stores.transaction(async ({ savedViews, organizations }) => {
        await organizations.lock(organization);
        return await savedViews.update(organization, params.id, change);
      });
      if (view === undefined) throw savedViewNotFound();
      return presentSavedView(view);
    },
  });
