import type { Environment } from "../domain/principal.ts";
import type { Webhook, WebhookEventType } from "../domain/webhook.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import type { WebhookStore } from "../storage/control/webhook-store.ts";

/** What decides which webhooks an event concerns. */
export type EventScope = {
  type: WebhookEventType;
  organizationId: string;
  environment: Environment;
  /** The API key that the event came with. If absent, webhooks of a single key do not receive it. */
  organizationKeyId?: string | undefined;
};

/**
 * The active webhooks of all organisations, and the channels of their alert rules, in memory: they are looked up for
 * every span, which must not query a database.
 */
export type WebhookDirectory = {
  /** Reloads: after a change here, and periodically for changes on other nodes. */
  refresh(): Promise<void>;
  get(id: number): Webhook | undefined;
  /** Whether the organisation has a webhook of any of these types. */
  hasAny(organizationId: string, types: readonly WebhookEventType[]): boolean;
  listeners(scope: EventScope): Webhook[];
  ids(): number[];
};

export function createWebhookDirectory(webhooks: Pick<WebhookStore, "listActive">): WebhookDirectory {
  let byId = new Map<number, Webhook>();
  let byOrganization = new Map<string, Webhook[]>();

  return {
    refresh: oneAtATime(async () => {
      const active = await webhooks.listActive();
      byId = new Map(active.map((webhook) => [webhook.id, webhook]));
      byOrganization = Map.groupBy(active, (webhook) => webhook.unique_organization_id);
    }),
    get: (id) => byId.get(id),
    hasAny: (organizationId, types) =>
      byOrganization
        .get(organizationId)
        ?.some((webhook) => webhook.alert_id === null && types.includes(webhook.event_type)) ?? false,
    listeners({ type, organizationId, environment, organizationKeyId }) {
      const webhooks = byOrganization.get(organizationId) ?? [];
      return webhooks.filter(
        (webhook) =>
          webhook.alert_id === null &&
          webhook.event_type === type &&
          (webhook.environment ?? environment) === environment &&
          (webhook.organization_key === null || webhook.organization_key === organizationKeyId),
      );
    },
    ids: () => [...byId.keys()],
  };
}
