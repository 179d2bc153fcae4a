import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { findOwnAlert, type AlertDeps } from "./alert-deps.ts";
import { alertNotFound, alertParams } from "./alert-schemas.ts";

export const deleteAlert = (deps: Pick<AlertDeps, "stores" | "webhookDirectory">) =>
  endpoint({
    id: "delete_alert",
    method: "DELETE",
    path: "/api/alerts/{id}/",
    summary: "Delete an alert",
    description: "Also deletes its channels, their queues, and its history.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:write",
    environment: "own",
    limit: "api",
    params: alertParams,
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const { id } = await findOwnAlert(deps, principal, params.id);
      const organization = principal.organization_id;
      const isRemoved = await deps.stores.transaction(async ({ alerts, webhooks }) => {
        const channels = await webhooks.listChannels(organization, [id]);
        for (const channel of channels) await webhooks.delete(organization, channel.id);
        return await alerts.remove(organization, id);
      });
      if (!isRemoved) throw alertNotFound();
      await deps.webhookDirectory.refresh();
      return reply(204);
    },
  });
