import { randomUUID } from "node:crypto";
import { endpoint } from "../../http/endpoint.ts";
import { newSavedViewSchema, presentSavedView, savedViewSchema, type SavedViewDeps } from "./saved-view-schemas.ts";

export const createSavedView = ({ stores, nowMs }: SavedViewDeps) =>
  endpoint({
    id: "create_saved_view",
    method: "POST",
    path: "/api/saved-views/",
    summary: "Save a view",
    description: "Everybody in the organization sees it. Names are unique per screen.",
    tags: ["Saved views"],
    auth: "key_or_user",
    permission: "views:write",
    limit: "api",
    body: {
      kind: "json",
      schema: newSavedViewSchema,
      shown: savedViewSchema,
      example: { screen: "logs", name: "Errors of a week", search: "q=status%3Aerror&range=7d" },
    },
    success: { status: 201, schema: savedViewSchema },
    errors: ["invalid_request", "conflict"],
    handler: async ({ principal, body }) => {
      const now = new Date(nowMs()).toISOString();
      const unique_organization_id = principal.organization_id;
      const view = { ...body, id: randomUUID(), unique_organization_id, created_at: now, updated_at: now };
      await stores.transaction(async ({ savedViews, organizations }) => {
        await organizations.lock(unique_organization_id);
        await savedViews.create(view);
      });
      return presentSavedView(view);
    },
  });
