import { ServiceError } from "../../domain/errors.ts";
import { requireOwnEnvironment, type Principal } from "../../domain/principal.ts";
import type { Webhook } from "../../domain/webhook.ts";
import type { WebhookDirectory } from "../../delivery/webhook-directory.ts";
import type { WebhookSecrets } from "../../delivery/webhook-secrets.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import type { WebhookStore } from "../../storage/control/webhook-store.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { presentWebhook, webhookNotFound } from "./webhook-schemas.ts";

/** Shared dependencies of the operations on webhooks. */
export type WebhookDeps = {
  webhooks: WebhookStore;
  organizations: Pick<OrganizationStore, "find">;
  apiKeys: Pick<ApiKeyStore, "list">;
  webhookSecrets: WebhookSecrets;
  webhookDirectory: Pick<WebhookDirectory, "refresh">;
  refusalOf: RefusalOf;
  nowMs: () => number;
};

/** @throws ServiceError `not_found` */
export async function findWebhook(
  { webhooks }: Pick<WebhookDeps, "webhooks">,
  uniqueOrganizationId: string,
  id: number,
): Promise<Webhook> {
  const webhook = await webhooks.find(uniqueOrganizationId, id);
  if (webhook === undefined) throw webhookNotFound();
  return webhook;
}

/**
 * The same for a webhook that the caller changes, or whose secret it reads. @throws ServiceError `not_found`,
 * `forbidden`
 */
export async function findOwnWebhook(
  deps: Pick<WebhookDeps, "webhooks">,
  principal: Principal,
  id: number,
): Promise<Webhook> {
  const webhook = await findWebhook(deps, principal.organization_id, id);
  requireOwnEnvironment(principal, webhook.environment, "this webhook");
  return webhook;
}

/** The number that identifies the organisation in responses. */
export async function organizationNumber(
  { organizations }: Pick<WebhookDeps, "organizations">,
  uniqueOrganizationId: string,
): Promise<number> {
  return (await organizations.find(uniqueOrganizationId))?.id ?? 0;
}

export async function showWebhook(
  deps: Pick<WebhookDeps, "organizations" | "refusalOf">,
  webhook: Webhook,
  secrets?: string,
) {
  const organization = await organizationNumber(deps, webhook.unique_organization_id);
  return presentWebhook(webhook, { organization, secrets, refusalOf: deps.refusalOf });
}

/** @throws ServiceError `invalid_request` if the organisation has no such permanent key. */
export async function checkKey(
  { apiKeys, nowMs }: Pick<WebhookDeps, "apiKeys" | "nowMs">,
  uniqueOrganizationId: string,
  key: string | null | undefined,
): Promise<void> {
  if (key === null || key === undefined) return;
  const keys = await apiKeys.list(uniqueOrganizationId, new Date(nowMs()).toISOString());
  if (keys.some(({ id }) => id === key)) return;
  const message = "must be the id of an API key of the organization";
  throw new ServiceError("invalid_request", `organization_key ${message}`, { errors: { organization_key: [message] } });
}
