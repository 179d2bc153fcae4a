import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { findOwnWebhook, type WebhookDeps } from "./webhook-deps.ts";
import { webhookNotFound, webhookParams } from "./webhook-schemas.ts";

export const deleteWebhook = (deps: Pick<WebhookDeps, "webhooks" | "webhookDirectory">) =>
  endpoint({
    id: "delete_webhook",
    method: "DELETE",
    path: "/api/webhooks/{id}/",
    summary: "Delete a webhook",
    description: "Also deletes its queue and its log.",
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:write",
    environment: "own",
    limit: "api",
    params: webhookParams,
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      await findOwnWebhook(deps, principal, params.id);
      const isDeleted = await deps.webhooks.delete(principal.organization_id, params.id);
      if (!isDeleted) throw webhookNotFound();
      await deps.webhookDirectory.refresh();
      return reply(204);
    },
  });
