import { endpoint } from "../../http/endpoint.ts";
import { checkKey, showWebhook, type WebhookDeps } from "./webhook-deps.ts";
import { newWebhookSchema, webhookSchema, webhookExample } from "./webhook-schemas.ts";

export const createWebhook = (deps: WebhookDeps) =>
  endpoint({
    id: "create_webhook",
    method: "POST",
    path: "/api/webhooks/",
    summary: "Create a webhook",
    description:
      "The response has its new secret. Created with an API key, it gets the events of the key's environment; created by a person, " +
      "those of both.",
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:write",
    limit: "api",
    body: { kind: "json", schema: newWebhookSchema, shown: webhookSchema, example: webhookExample },
    success: { status: 201, schema: webhookSchema },
    errors: ["invalid_request", "conflict"],
    handler: async ({ principal, body }) => {
      const unique_organization_id = principal.organization_id;
      await checkKey(deps, unique_organization_id, body.organization_key);
      const { secret, sealed } = deps.webhookSecrets.make(unique_organization_id);
      const webhook = await deps.webhooks.create({
        ...body,
        unique_organization_id,
        environment: principal.kind === "key" ? principal.environment : null,
        secret: sealed,
        created_at: new Date(deps.nowMs()).toISOString(),
      });
      await deps.webhookDirectory.refresh();
      return await showWebhook(deps, webhook, secret);
    },
  });
