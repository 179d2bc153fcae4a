import { ServiceError } from "../../domain/errors.ts";
import type { Alert } from "../../domain/alert.ts";
import type { Webhook } from "../../domain/webhook.ts";
import { apiLimits } from "../limits.ts";
import type { WebhookChanges, WebhookStore } from "../../storage/control/webhook-store.ts";
import type { AlertDeps } from "./alert-deps.ts";
import type { NewChannel } from "./channel-schemas.ts";

type ChannelDeps = Pick<AlertDeps, "webhookSecrets" | "hasMail"> & { webhooks: WebhookStore; now: string };

/**
 * Replaces the channels of a rule by those of a list. Call it in a transaction. Returns the secrets of new webhooks, by
 * their ids.
 *
 * @throws ServiceError `invalid_request` that names the channel by its position
 */
export async function saveChannels(
  deps: ChannelDeps,
  alert: Alert,
  wanted: readonly NewChannel[],
): Promise<Map<number, string>> {
  const { webhooks, hasMail } = deps;
  const existing = await webhooks.listChannels(alert.unique_organization_id, [alert.id]);
  const secrets = new Map<number, string>();
  const unchanged = new Set<number>();
  for (const [place, channel] of wanted.entries()) {
    const found = existing.find(({ id }) => id === channel.id);
    if (channel.id !== undefined && (found?.channel !== channel.type || unchanged.has(channel.id))) {
      throw refusal(`channels.${place}.id`, `the alert has no such channel of type ${channel.type}`);
    }
    if (channel.type === "email" && !hasMail && found?.url !== channel.to) {
      throw refusal(`channels.${place}.to`, "e-mail needs SPANWAY_SMTP_URL, which is not set on this server");
    }
    if (found === undefined) await addChannel(deps, alert, channel, secrets);
    else {
      unchanged.add(found.id);
      await changeChannel(deps, found, channel);
    }
  }
  for (const { id } of existing) {
    if (!unchanged.has(id)) await webhooks.delete(alert.unique_organization_id, id);
  }
  return secrets;
}

async function addChannel(
  { webhooks, webhookSecrets, now }: ChannelDeps,
  alert: Alert,
  channel: NewChannel,
  secrets: Map<number, string>,
): Promise<void> {
  const { unique_organization_id, environment } = alert;
  const made = channel.type === "webhook" ? webhookSecrets.make(unique_organization_id) : undefined;
  const { id } = await webhooks.create({
    unique_organization_id,
    environment,
    organization_key: null,
    legacy_signatures: false,
    alert_id: alert.id,
    channel: channel.type,
    event_type: "alert_triggered",
    active: true,
    created_at: now,
    name: alert.name.slice(0, apiLimits.webhookNameChars),
    secret: made?.sealed ?? "",
    ...placeOf(channel, unique_organization_id, webhookSecrets),
  });
  if (made !== undefined) secrets.set(id, made.secret);
}

async function changeChannel(
  { webhooks, webhookSecrets, now }: ChannelDeps,
  { id, unique_organization_id: organization, url, active }: Webhook,
  channel: NewChannel,
): Promise<void> {
  const isMoved = (channel.to ?? channel.url) !== url;
  const changes: WebhookChanges = {
    ...(isMoved && placeOf(channel, organization, webhookSecrets)),
    ...((isMoved || !active) && { active: true }),
  };
  if (Object.keys(changes).length > 0) await webhooks.update(organization, id, changes, now);
}

/** The target of a channel in displayable form. The path of a Slack URL allows anyone who knows it to post there. */
function placeOf(
  { type, url = "", to = "" }: NewChannel,
  organizationId: string,
  webhookSecrets: AlertDeps["webhookSecrets"],
): { url: string; secret?: string } {
  if (type === "email") return { url: to };
  if (type === "webhook") return { url };
  return { url: `${new URL(url).origin}/…`, secret: webhookSecrets.sealUrl(url, organizationId) };
}

function refusal(field: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [field]: [message] } });
}
