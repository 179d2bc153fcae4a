import { randomUUID } from "node:crypto";
import { z } from "zod";
import { readDefinition } from "../../alerts/read-definition.ts";
import { definitionOf } from "../../domain/alert.ts";
import { writtenEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { ownEnvironmentQuery } from "../../http/query.ts";
import { describeAlert, type AlertDeps } from "./alert-deps.ts";
import { alertExample, alertWithStatesSchema, checkComparison, newAlertSchema } from "./alert-schemas.ts";
import { saveChannels } from "./save-channels.ts";

export const createAlert = (deps: AlertDeps) =>
  endpoint({
    id: "create_alert",
    method: "POST",
    path: "/api/alerts/",
    summary: "Create an alert",
    description:
      "It is evaluated immediately, and then every minute. If created with an API key, it watches spans of the key's environment. The response contains the secrets of webhook channels.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:write",
    limit: "api",
    query: z.object(ownEnvironmentQuery()),
    body: { kind: "json", schema: newAlertSchema, shown: alertWithStatesSchema, example: alertExample },
    success: { status: 201, schema: alertWithStatesSchema },
    errors: ["invalid_request", "forbidden", "conflict"],
    handler: async ({ principal, query, body, url }) => {
      const { channels, name, is_enabled } = body;
      const unique_organization_id = principal.organization_id;
      const definition = definitionOf(body);
      checkComparison(definition);
      await readDefinition(definition, unique_organization_id, deps);
      const environment = writtenEnvironment(principal, query.environment) ?? "prod";
      const now = new Date(deps.nowMs()).toISOString();
      const { alert, secrets } = await deps.stores.transaction(async ({ alerts, webhooks, organizations }) => {
        await organizations.lock(unique_organization_id);
        const id = randomUUID();
        const alert = await alerts.create({
          ...definition,
          id,
          unique_organization_id,
          environment,
          name,
          is_enabled,
          created_at: now,
        });
        return { alert, secrets: await saveChannels({ ...deps, webhooks, now }, alert, channels) };
      });
      await deps.webhookDirectory.refresh();
      return await describeAlert(deps, alert, url, secrets);
    },
  });
