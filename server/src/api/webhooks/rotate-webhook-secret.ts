import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { deliveryLimits } from "../../delivery/limits.ts";
import { findOwnWebhook, type WebhookDeps } from "./webhook-deps.ts";
import { webhookNotFound, webhookParams } from "./webhook-schemas.ts";

const message =
  "The old secret signs beside the new one in the webhook-signature header for 24 hours; the X-…-Signature headers are made with the new one.";

export const rotateWebhookSecret = (
  deps: Pick<WebhookDeps, "webhooks" | "webhookSecrets" | "webhookDirectory" | "nowMs">,
) =>
  endpoint({
    id: "rotate_webhook_secret",
    method: "POST",
    path: "/api/webhooks/{id}/rotate/",
    summary: "Rotate the secret of a webhook",
    description: message,
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:write",
    environment: "own",
    limit: "api",
    params: webhookParams,
    success: {
      status: 200,
      schema: z.object({ id: z.int(), name: z.string(), secrets: z.string(), message: z.string() }),
    },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const organizationId = principal.organization_id;
      await findOwnWebhook(deps, principal, params.id);
      const { secret, sealed } = deps.webhookSecrets.make(organizationId);
      const nowMs = deps.nowMs();
      const changed = await deps.webhooks.rotate(organizationId, params.id, {
        secret: sealed,
        previousUntil: new Date(nowMs + deliveryLimits.webhookSecretOverlapMs).toISOString(),
        now: new Date(nowMs).toISOString(),
      });
      if (changed === undefined) throw webhookNotFound();
      await deps.webhookDirectory.refresh();
      return { id: changed.id, name: changed.name, secrets: secret, message };
    },
  });
