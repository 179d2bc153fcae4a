import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { presentAlert, type AlertDeps } from "./alert-deps.ts";
import { alertSchema } from "./alert-schemas.ts";

export const listAlerts = ({ stores, refusalOf }: Pick<AlertDeps, "stores" | "refusalOf">) =>
  endpoint({
    id: "list_alerts",
    method: "GET",
    path: "/api/alerts/",
    summary: "List alerts",
    description: "Newest first, from both environments. Retrieving an alert shows the states of its groups.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:read",
    limit: "api",
    query: z.object(pagingQuery()),
    success: { status: 200, schema: pageOf(alertSchema) },
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize } = query;
      // An organization has a bounded number of alerts, so the page is sliced here.
      const all = await stores.alerts.list(principal.organization_id);
      const rows = all.slice((page - 1) * pageSize, page * pageSize);
      const ids = rows.map(({ id }) => id);
      const channels = await stores.webhooks.listChannels(principal.organization_id, ids);
      const results = rows.map((alert) => presentAlert(alert, channels, refusalOf));
      return paginate({ url, query, page, pageSize, count: all.length, results });
    },
  });
