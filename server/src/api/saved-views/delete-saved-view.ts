import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { savedViewNotFound, savedViewParams, type SavedViewDeps } from "./saved-view-schemas.ts";

export const deleteSavedView = ({ stores }: Pick<SavedViewDeps, "stores">) =>
  endpoint({
    id: "delete_saved_view",
    method: "DELETE",
    path: "/api/saved-views/{id}/",
    summary: "Delete a saved view",
    description: "For everybody in the organization.",
    tags: ["Saved views"],
    auth: "key_or_user",
    permission: "views:write",
    limit: "api",
    params: savedViewParams,
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const isRemoved = await stores.savedViews.remove(principal.organization_id, params.id);
      if (!isRemoved) throw savedViewNotFound();
      return reply(204);
    },
  });
