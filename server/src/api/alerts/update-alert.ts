import type { z } from "zod";
import { clockAt } from "../../alerts/evaluate-alert.ts";
import { readDefinition } from "../../alerts/read-definition.ts";
import { definitionOf, type Alert, type AlertDefinition } from "../../domain/alert.ts";
import { newestEndMs } from "../../domain/alert-window.ts";
import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import { describeAlert, findOwnAlert, type AlertDeps } from "./alert-deps.ts";
import {
  alertChangeSchema,
  alertNotFound,
  alertParams,
  alertWithStatesSchema,
  checkComparison,
} from "./alert-schemas.ts";
import { saveChannels } from "./save-channels.ts";

export const updateAlert = (deps: AlertDeps) =>
  endpoint({
    id: "update_alert",
    method: "PATCH",
    path: "/api/alerts/{id}/",
    summary: "Change an alert",
    description:
      "Omitted members keep their value. If the definition changes, all groups start again, and triggered ones are reported as resolved.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:write",
    environment: "own",
    limit: "api",
    params: alertParams,
    body: { kind: "json", schema: alertChangeSchema, shown: alertWithStatesSchema, example: { threshold: 20 } },
    success: { status: 200, schema: alertWithStatesSchema },
    errors: ["invalid_request", "not_found"],
    handler: async ({ principal, params, body, url }) => {
      await findOwnAlert(deps, principal, params.id);
      const organization = principal.organization_id;
      const now = new Date(deps.nowMs()).toISOString();
      const { alert, secrets } = await deps.stores.transaction(async (set) => {
        const { alerts, webhooks, organizations, evaluators } = set;
        await organizations.lock(organization);
        const found = await alerts.find(organization, params.id);
        if (found === undefined) throw alertNotFound();
        const { name = found.name, is_enabled = found.is_enabled, channels } = body;
        const definition = changedDefinition(found, body);
        checkComparison(definition);
        await readDefinition(definition, organization, { ...deps, evaluators });
        const evaluated_until = is_enabled && !found.is_enabled ? skipPast(found, deps.nowMs()) : found.evaluated_until;
        const changes = { name, is_enabled, definition, evaluated_until };
        const alert = await alerts.update(organization, params.id, changes, now);
        if (alert === undefined) throw alertNotFound();
        const saved = channels && (await saveChannels({ ...deps, webhooks, now }, alert, channels));
        return { alert, secrets: saved };
      });
      await deps.webhookDirectory.refresh();
      return await describeAlert(deps, alert, url, secrets);
    },
  });

function changedDefinition(found: Alert, changes: z.output<typeof alertChangeSchema>): AlertDefinition {
  const { threshold, change_percentage } = changes;
  // Sending one of the two is enough to switch to it.
  const other = {
    ...(threshold != null && change_percentage === undefined && { change_percentage: null }),
    ...(change_percentage != null && threshold === undefined && { threshold: null }),
  };
  return definitionOf({ ...found, ...definedFields(changes), ...other });
}

/** An alert that is enabled again continues with the newest window. */
function skipPast({ evaluated_until }: Alert, nowMs: number): string | null {
  if (evaluated_until === null) return null;
  const beforeNewest = new Date(newestEndMs(clockAt(nowMs)) - 60_000).toISOString();
  return beforeNewest > evaluated_until ? beforeNewest : evaluated_until;
}
