import { z } from "zod";
import { alertChannelTypes } from "../../domain/alert.ts";
import type { Webhook } from "../../domain/webhook.ts";
import { apiLimits } from "../limits.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { refusalField, shownRefusal } from "../refusal.ts";
import { callableUrl } from "../webhooks/webhook-schemas.ts";

const type = z.enum(alertChannelTypes).meta({
  description: "webhook: signed events; slack: a URL that accepts Slack's incoming webhooks; email: plain text.",
});

/** Like HTML's e-mail addresses: no names, comments, quotes or line breaks, which have a meaning in a header. */
const address = z
  .string()
  .max(254)
  .regex(
    /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i,
    "must be one e-mail address, without a name, as in ops@example.com",
  );

const newChannelSchema = z
  .object({
    id: z.int().optional().meta({ description: "Identifies an existing channel; a channel without an id is new." }),
    type,
    url: callableUrl(apiLimits.alertChannelUrlChars).optional().meta({ description: "Only for webhook and slack." }),
    to: address.optional().meta({ description: "Only for email: one address." }),
  })
  .superRefine((channel, context) => {
    const [needed, other] = channel.type === "email" ? (["to", "url"] as const) : (["url", "to"] as const);
    if (channel[needed] === undefined) {
      context.addIssue({
        code: "custom",
        path: [needed],
        message: `a channel of type ${channel.type} needs ${needed}`,
      });
    }
    if (channel[other] !== undefined) {
      context.addIssue({ code: "custom", path: [other], message: `a channel of type ${channel.type} has no ${other}` });
    }
  });

export type NewChannel = z.output<typeof newChannelSchema>;

export const newChannelsSchema = z.array(newChannelSchema).max(apiLimits.alertChannels).meta({
  description: "The whole list: channels that are not in it are deleted. Existing channels are identified by their id.",
});

const time = z.string().meta({ format: "date-time" });

export const channelSchema = z
  .object({
    id: z.int(),
    type,
    url: z.string().optional().meta({ description: "For slack only the host: the rest is a secret." }),
    refused_reason: refusalField,
    to: z.string().optional(),
    active: z
      .boolean()
      .meta({ description: "false after it failed for days or responded 410; sending it again activates it." }),
    failing_since: time.nullable().meta({ description: "Since when no delivery has succeeded." }),
    disabled_at: time.nullable(),
    disabled_reason: z.string().nullable(),
    skipped_events: z.int().meta({ description: "Events that were not queued because the queue was full." }),
    secrets: z.string().optional().meta({
      description: "whsec_… that signs the events of a webhook. Only in the response that created the channel.",
    }),
  })
  .meta({ id: "AlertChannel" });

export function presentChannel(
  channel: Webhook,
  refusalOf: RefusalOf,
  secrets?: string,
): z.input<typeof channelSchema> {
  const { id, channel: kind, url, active, failing_since, disabled_at, disabled_reason, skipped_events } = channel;
  return {
    id,
    type: kind,
    ...(kind === "email" ? { to: url } : { url, ...shownRefusal(refusalOf, url) }),
    active,
    failing_since,
    disabled_at,
    disabled_reason,
    skipped_events,
    ...(secrets !== undefined && { secrets }),
  };
}
