import type { z } from "zod";
import type { Principal } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import { checkKey, findOwnWebhook, showWebhook, type WebhookDeps } from "./webhook-deps.ts";
import {
  replacedWebhookSchema,
  webhookChangeSchema,
  webhookNotFound,
  webhookParams,
  webhookSchema,
  webhookExample,
} from "./webhook-schemas.ts";

const shared = {
  path: "/api/webhooks/{id}/",
  tags: ["Webhooks"],
  auth: "key_or_user",
  permission: "webhooks:write",
  environment: "own",
  limit: "api",
  params: webhookParams,
  success: { status: 200, schema: webhookSchema },
  errors: ["invalid_request", "not_found"],
} as const;

export const updateWebhook = (deps: WebhookDeps) =>
  endpoint({
    ...shared,
    id: "update_webhook",
    method: "PATCH",
    summary: "Change a webhook",
    description:
      "Omitted members keep their value. While it is inactive, nothing is queued, and queued events end as failed; each event can " +
      "be resent once it is active.",
    body: { kind: "json", schema: webhookChangeSchema, shown: webhookSchema, example: { active: false } },
    handler: ({ principal, params, body }) => change(deps, principal, params.id, body),
  });

export const replaceWebhook = (deps: WebhookDeps) =>
  endpoint({
    ...shared,
    id: "replace_webhook",
    method: "PUT",
    summary: "Replace a webhook",
    description:
      "Omitted members take their default. The secret remains, and so does `legacy_signatures` if it is omitted.",
    body: {
      kind: "json",
      schema: replacedWebhookSchema,
      shown: webhookSchema,
      example: { ...webhookExample, active: false },
    },
    handler: ({ principal, params, body }) => change(deps, principal, params.id, body),
  });

async function change(
  deps: WebhookDeps,
  principal: Principal,
  id: number,
  changes: z.output<typeof webhookChangeSchema>,
) {
  const organizationId = principal.organization_id;
  await findOwnWebhook(deps, principal, id);
  await checkKey(deps, organizationId, changes.organization_key);
  const now = new Date(deps.nowMs()).toISOString();
  const changed = await deps.webhooks.update(organizationId, id, definedFields(changes), now);
  if (changed === undefined) throw webhookNotFound();
  await deps.webhookDirectory.refresh();
  return await showWebhook(deps, changed);
}
