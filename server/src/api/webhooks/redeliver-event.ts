import { ServiceError } from "../../domain/errors.ts";
import type { Deliverer } from "../../delivery/deliverer.ts";
import { endpoint } from "../../http/endpoint.ts";
import { deliveryLimits } from "../../delivery/limits.ts";
import type { DeliveryStore } from "../../storage/control/delivery-store.ts";
import { findOwnWebhook, type WebhookDeps } from "./webhook-deps.ts";
import { deliveryParams, deliverySchema, presentDelivery } from "./webhook-schemas.ts";

export const redeliverEvent = (
  deps: Pick<WebhookDeps, "webhooks" | "nowMs"> & {
    deliveries: Pick<DeliveryStore, "redeliver" | "ofEvents">;
    deliverer: Pick<Deliverer, "due">;
  },
) =>
  endpoint({
    id: "redeliver_webhook_event",
    method: "POST",
    path: "/api/webhooks/{id}/deliveries/{delivery_id}/redeliver/",
    summary: "Redeliver an event",
    description:
      "Sends it immediately, regardless of earlier results, with the same webhook-id. It is retried for another 24 hours. " +
      "409 if the payload is no longer stored: payloads of delivered events are stored for 6 hours, those of deleted traces are deleted.",
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:write",
    environment: "own",
    limit: "api",
    params: deliveryParams,
    success: { status: 202, schema: deliverySchema },
    errors: ["not_found", "conflict"],
    handler: async ({ principal, params }) => {
      const webhook = await findOwnWebhook(deps, principal, params.id);
      if (!webhook.active) throw new ServiceError("conflict", "This webhook is not active.");
      const nowMs = deps.nowMs();
      const delivery = await deps.deliveries.redeliver(principal.organization_id, params.id, params.delivery_id, {
        now: new Date(nowMs).toISOString(),
        expiresAt: new Date(nowMs + deliveryLimits.webhookRetryMs).toISOString(),
      });
      if (delivery === undefined) {
        const events = [params.delivery_id];
        const { length: known } = await deps.deliveries.ofEvents(principal.organization_id, [params.id], events);
        if (known > 0) throw new ServiceError("conflict", "What was sent is not kept any more.");
        throw new ServiceError("not_found", "There is no such delivery.");
      }
      deps.deliverer.due([params.id]);
      return presentDelivery(delivery);
    },
  });
