import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import type { DeliveryStore } from "../../storage/control/delivery-store.ts";
import { findWebhook, type WebhookDeps } from "./webhook-deps.ts";
import { deliverySchema, presentDelivery, webhookParams } from "./webhook-schemas.ts";

export const listDeliveries = (deps: Pick<WebhookDeps, "webhooks"> & { deliveries: Pick<DeliveryStore, "list"> }) =>
  endpoint({
    id: "list_webhook_deliveries",
    method: "GET",
    path: "/api/webhooks/{id}/deliveries/",
    summary: "List the deliveries of a webhook",
    description: "Newest first: pending ones, and those that ended within the last seven days.",
    tags: ["Webhooks"],
    auth: "key_or_user",
    permission: "webhooks:read",
    limit: "api",
    params: webhookParams,
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(deliverySchema) },
    errors: ["not_found"],
    handler: async ({ principal, params, query, url }) => {
      await findWebhook(deps, principal.organization_id, params.id);
      const { page, page_size: pageSize } = query;
      const { count, rows } = await deps.deliveries.list(principal.organization_id, params.id, { page, pageSize });
      return paginate({ url, query, page, pageSize, count, results: rows.map(presentDelivery) });
    },
  });
