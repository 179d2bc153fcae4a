import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { requirePermission } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { findOwnWebhook, findWebhook, showWebhook, type WebhookDeps } from "./webhook-deps.ts";
import { webhookParams, webhookSchema } from "./webhook-schemas.ts";

const flagMessage = "is_including_secrets must be true or false";

const retrieveQuery = z.object({
  is_including_secrets: z
    .string({ error: flagMessage })
    .optional()
    .transform((text, context) => {
      const value = (text ?? "").toLowerCase();
      if (value === "" || value === "false" || value === "0") return false;
      if (value === "true" || value === "1") return true;
      context.addIssue({ code: "custom", message: flagMessage });
      return z.NEVER;
    })
    .meta({ type: "boolean", default: false, description: "Shows the secret; needs the permission webhooks:write." }),
});

const secretsParameter = { parameter: "is_including_secrets=true", permission: "webhooks:write" } as const;

export const retrieveWebhook = (
  deps: Pick<WebhookDeps, "webhooks" | "organizations" | "webhookSecrets" | "refusalOf">,
) =>
  endpoint({
    id: "retrieve_webhook",
    method: "GET",
    path: "/api/webhooks/{id}/",
    summary: "Retrieve a webhook",
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:read",
    parameters: [secretsParameter],
    limit: "api",
    params: webhookParams,
    query: retrieveQuery,
    success: { status: 200, schema: webhookSchema },
    errors: ["invalid_request", "forbidden", "not_found", "conflict"],
    handler: async ({ principal, params, query }) => {
      if (!query.is_including_secrets) {
        return await showWebhook(deps, await findWebhook(deps, principal.organization_id, params.id));
      }
      requirePermission(principal, secretsParameter.permission, secretsParameter.parameter);
      const webhook = await findOwnWebhook(deps, principal, params.id);
      const secret = deps.webhookSecrets.current(webhook);
      if (secret === undefined) {
        throw new ServiceError("conflict", "The secret was stored under another SPANWAY_SECRET_KEY: rotate it.");
      }
      return await showWebhook(deps, webhook, secret);
    },
  });
