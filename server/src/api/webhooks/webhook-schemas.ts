import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { environments } from "../../domain/principal.ts";
import { legacyFamilies } from "../../domain/product-families.ts";
import { deliveryStatuses, webhookEventTypes, type Webhook } from "../../domain/webhook.ts";
import { apiLimits } from "../limits.ts";
import { deliveryLimits } from "../../delivery/limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { LoggedDelivery } from "../../storage/control/delivery-store.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { displayName } from "../organizations/schemas.ts";
import { refusalField, shownRefusal } from "../refusal.ts";

const time = z.string().meta({ format: "date-time" });

/** An id that does not match gives 404: ids are integers within the range of the database. */
export const webhookParams = z.object({ id: idParam() });
export const deliveryParams = z.object({ id: idParam(), delivery_id: z.string().max(domainLimits.identifierChars) });

function idParam() {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .meta({ type: "integer" });
}

const urlMessage = "must be an http or https URL without user name and password";

/** URL parsers ignore some of these characters, so the called URL would differ from the displayed one. */
export function callableUrl(maxChars: number) {
  return z
    .string()
    .max(maxChars)
    .regex(/^[^\s\p{Cc}]*$/u, "must not contain spaces or control characters")
    .refine(isCallable, urlMessage)
    .meta({ format: "uri", description: `${urlMessage}; private addresses are refused when they are called.` });
}

const url = callableUrl(deliveryLimits.webhookUrlChars);

function isCallable(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

const name = displayName(apiLimits.webhookNameChars);

const eventType = z.enum(webhookEventTypes);
const organizationKey = z
  .string()
  .max(domainLimits.identifierChars)
  .nullable()
  .meta({ description: "Id of an API key of the organization: only events caused with it. null: all." });

const legacySignatures = z.boolean().meta({
  description: `Also signs under the product's former names: ${legacyFamilies.map((name) => `x-${name}-signature`).join(", ")}.`,
});

export const newWebhookSchema = z.object({
  url,
  name,
  event_type: eventType,
  active: z.boolean().default(true),
  organization_key: organizationKey.default(null),
  legacy_signatures: legacySignatures.default(false),
});

/** A webhook that signs for older receivers continues to do so until that is switched off. */
export const replacedWebhookSchema = newWebhookSchema.extend({ legacy_signatures: legacySignatures.optional() });

export const webhookExample = {
  url: "https://example.com/hooks/spanway",
  name: "Scores",
  event_type: "on_eval_result_ingested",
};

export const webhookChangeSchema = z.object({
  url: url.optional(),
  name: name.optional(),
  event_type: eventType.optional(),
  active: z.boolean().optional(),
  organization_key: organizationKey.optional(),
  legacy_signatures: legacySignatures.optional(),
});

export const webhookSchema = z
  .object({
    id: z.int(),
    url: z.string().meta({ format: "uri" }),
    refused_reason: refusalField,
    organization: z.int(),
    project: z.string().nullable().meta({ description: "Always null: there are no projects." }),
    name: z.string(),
    created: time,
    event_type: eventType,
    active: z.boolean(),
    organization_key: organizationKey,
    legacy_signatures: legacySignatures,
    environment: z.enum(environments).nullable().meta({
      description:
        "The environment whose events it gets: that of the API key that created it; null if a person created it: both.",
    }),
    failing_since: time.nullable().meta({ description: "Since when no delivery has succeeded." }),
    disabled_at: time.nullable(),
    disabled_reason: z
      .string()
      .nullable()
      .meta({ description: "Why it was switched off automatically. Activating it clears this." }),
    skipped_events: z.int().meta({ description: "Events that were not queued because the queue was full." }),
    secrets: z
      .string()
      .optional()
      .meta({ description: "whsec_… with the key in base64. Only on request, and in the response that created it." }),
  })
  .meta({ id: "Webhook" });

export function presentWebhook(
  webhook: Webhook,
  { organization, secrets, refusalOf }: { organization: number; secrets?: string | undefined; refusalOf: RefusalOf },
): z.input<typeof webhookSchema> {
  return {
    id: webhook.id,
    url: webhook.url,
    ...shownRefusal(refusalOf, webhook.url),
    organization,
    project: null,
    name: webhook.name,
    created: webhook.created_at,
    event_type: webhook.event_type,
    active: webhook.active,
    organization_key: webhook.organization_key,
    legacy_signatures: webhook.legacy_signatures,
    environment: webhook.environment,
    failing_since: webhook.failing_since,
    disabled_at: webhook.disabled_at,
    disabled_reason: webhook.disabled_reason,
    skipped_events: webhook.skipped_events,
    ...(secrets !== undefined && { secrets }),
  };
}

export const deliverySchema = z
  .object({
    id: z.string().meta({ description: "The same as event_id: a webhook has one delivery per event." }),
    event_id: z.string().meta({ description: "The webhook-id header: the same for every attempt." }),
    event_type: eventType,
    environment: z.enum(environments),
    status: z.enum(deliveryStatuses),
    attempts: z.int(),
    created_at: time,
    last_attempt_at: time.nullable(),
    next_attempt_at: time.nullable().meta({ description: "null after it was delivered or abandoned." }),
    expires_at: time.meta({ description: "When trying ends." }),
    response_status: z.int().nullable(),
    response_body: z.string().nullable().meta({ description: "The first kilobyte of the last response." }),
    error: z.string().nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export function presentDelivery(delivery: LoggedDelivery): z.input<typeof deliverySchema> {
  const { webhook_id: _webhook, unique_organization_id: _organization, ...shown } = delivery;
  return { ...shown, id: delivery.event_id };
}

export function webhookNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such webhook.");
}
