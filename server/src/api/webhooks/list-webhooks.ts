import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { organizationNumber, type WebhookDeps } from "./webhook-deps.ts";
import { presentWebhook, webhookSchema } from "./webhook-schemas.ts";

export const listWebhooks = (deps: Pick<WebhookDeps, "webhooks" | "organizations" | "refusalOf">) =>
  endpoint({
    id: "list_webhooks",
    method: "GET",
    path: "/api/webhooks/",
    summary: "List the organization's webhooks",
    description: "All of them, oldest first, without secrets.",
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:read",
    limit: "api",
    success: { status: 200, schema: z.array(webhookSchema) },
    errors: [],
    handler: async ({ principal }) => {
      const organization = await organizationNumber(deps, principal.organization_id);
      const webhooks = await deps.webhooks.list(principal.organization_id);
      return webhooks.map((webhook) => presentWebhook(webhook, { organization, refusalOf: deps.refusalOf }));
    },
  });
