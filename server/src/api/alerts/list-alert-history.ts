import { z } from "zod";
import type { AlertHistoryEntry } from "../../domain/alert.ts";
import type { Webhook } from "../../domain/webhook.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { pick } from "../../lib/pick.ts";
import type { LoggedDelivery } from "../../storage/control/delivery-store.ts";
import { absolute, findAlert, type AlertDeps } from "./alert-deps.ts";
import { alertParams, historySchema } from "./alert-schemas.ts";

export const listAlertHistory = (deps: Pick<AlertDeps, "stores">) =>
  endpoint({
    id: "list_alert_history",
    method: "GET",
    path: "/api/alerts/{id}/history/",
    summary: "List the history of an alert",
    description:
      "Newest first: each change of a group's state, the event for the channels and its deliveries, and errors.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:read",
    limit: "api",
    params: alertParams,
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(historySchema) },
    errors: ["not_found", "invalid_request"],
    handler: async ({ principal, params, query, url }) => {
      const organization = principal.organization_id;
      const alert = await findAlert(deps, organization, params.id);
      const { page, page_size: pageSize } = query;
      const { count, rows } = await deps.stores.alerts.history(organization, alert.id, { page, pageSize });
      const channels = await deps.stores.webhooks.listChannels(organization, [alert.id]);
      const deliveries = await deps.stores.deliveries.ofEvents(
        organization,
        channels.map(({ id }) => id),
        rows.flatMap(({ event_id }) => event_id ?? []),
      );
      const results = rows.map((entry) => present(entry, { channels, deliveries, url }));
      return paginate({ url, query, page, pageSize, count, results });
    },
  });

function present(
  entry: AlertHistoryEntry,
  { channels, deliveries, url }: { channels: readonly Webhook[]; deliveries: readonly LoggedDelivery[]; url: URL },
): z.input<typeof historySchema> {
  return {
    ...pick(entry, "id", "created_at", "event", "group", "state", "previous_state", "value", "previous_value"),
    ...pick(entry, "number_of_requests", "window_start", "window_end", "error"),
    spans_url: entry.spans_path === null ? null : absolute(entry.spans_path, url),
    deliveries: channels.flatMap(({ id, channel }) => {
      const found = deliveries.find((each) => each.webhook_id === id && each.event_id === entry.event_id);
      if (found === undefined) return [];
      const { status, attempts, last_attempt_at, next_attempt_at, response_status, error } = found;
      return [
        { channel: id, type: channel, status, attempts, last_attempt_at, next_attempt_at, response_status, error },
      ];
    }),
  };
}
