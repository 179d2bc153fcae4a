import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, type Api } from "../../api/client.ts";
import type { components, operations } from "../../api/schema.gen.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";

export type Webhook = components["schemas"]["Webhook"];
export type Delivery = components["schemas"]["WebhookDelivery"];
type NewWebhook = NonNullable<operations["create_webhook"]["requestBody"]>["content"]["application/json"];
type WebhookChange = NonNullable<operations["update_webhook"]["requestBody"]>["content"]["application/json"];

type WebhookForm = Pick<Webhook, "name" | "url" | "event_type">;

const refreshMs = 30_000;

/** The webhooks that receive events of the environment in the URL. */
export function useWebhooks() {
  const environment = useEnvironment();
  return useApiQuery(
    ["webhooks"],
    async (api, signal) => {
      const all = await bodyOf(api.GET("/api/webhooks/", { signal }));
      return all.filter((webhook) => webhook.environment === null || webhook.environment === environment);
    },
    { refetchInterval: refreshMs },
  );
}

export const deliveriesPageSize = 20;

export function useDeliveries(id: number, page: number) {
  const query = { page, page_size: deliveriesPageSize };
  return useApiQuery(
    ["deliveries", id, page],
    (api, signal) => bodyOf(api.GET("/api/webhooks/{id}/deliveries/", { params: { path: { id }, query }, signal })),
    { refetchInterval: 5000, placeholderData: keepPreviousData },
  );
}

/**
 * The fields that differ from the webhook. Only these are sent, so that changes that somebody else made meanwhile
 * persist.
 */
export function changeOf(form: WebhookForm, webhook: Webhook): WebhookChange {
  return {
    ...(form.name !== webhook.name && { name: form.name }),
    ...(form.url !== webhook.url && { url: form.url }),
    ...(form.event_type !== webhook.event_type && { event_type: form.event_type }),
  };
}

const names = new Set<unknown>(["webhooks", "deliveries"]);

function useChange<In, Out>(change: (api: Api, given: In) => Promise<Out>) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: In) => change(api, given),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => names.has(queryKey[1]) }),
  });
}

export const useCreateWebhook = () =>
  useChange((api, body: NewWebhook) => bodyOf(api.POST("/api/webhooks/", { body })));

export const useUpdateWebhook = () =>
  useChange((api, { id, body }: { id: number; body: WebhookChange }) =>
    bodyOf(api.PATCH("/api/webhooks/{id}/", { params: { path: { id } }, body })),
  );

/** The response contains the new secret, only this once. */
export const useRotateSecret = () =>
  useChange((api, id: number) => bodyOf(api.POST("/api/webhooks/{id}/rotate/", { params: { path: { id } } })));

export const useDeleteWebhook = () =>
  useChange(async (api, id: number) => {
    await api.DELETE("/api/webhooks/{id}/", { params: { path: { id } } });
  });

export const useRedeliver = () =>
  useChange((api, { id, delivery_id }: { id: number; delivery_id: string }) =>
    bodyOf(
      api.POST("/api/webhooks/{id}/deliveries/{delivery_id}/redeliver/", { params: { path: { id, delivery_id } } }),
    ),
  );
