import { randomBytes } from "node:crypto";
import { createSealedBox } from "../auth/sealed-box.ts";
import type { Webhook } from "../domain/webhook.ts";
import type { Secret } from "../lib/secret.ts";
import { deliveryLimits } from "./limits.ts";
import { secretPrefix, signingKey, type SigningKey } from "./sign.ts";

/** Generates and stores signing secrets: encrypted at rest, and bound to their organisation. */
export type WebhookSecrets = {
  /** Generates a `whsec_…` with 192 bits; `sealed` is its stored form. */
  make(uniqueOrganizationId: string): { secret: string; sealed: string };
  /** The current secret; undefined if the instance's secret has changed since it was sealed. */
  current(webhook: Pick<Webhook, "unique_organization_id" | "secret">): string | undefined;
  /**
   * Seals and opens the URL of a Slack channel, which is a secret. Opening returns undefined in the same case as
   * `current`.
   */
  sealUrl(url: string, uniqueOrganizationId: string): string;
  openUrl(webhook: Pick<Webhook, "unique_organization_id" | "secret">): string | undefined;
  /** Whether the secrets that the webhook needs can be opened. */
  isReadable(webhook: Pick<Webhook, "channel" | "unique_organization_id" | "secret">): boolean;
  /** The keys that sign at this time, the current secret's first; undefined in the same case as `current`. */
  signing(webhook: Webhook, nowMs: number): [SigningKey, ...SigningKey[]] | undefined;
};

const secretBytes = 24;

/** @param secret the instance's secret */
export function createWebhookSecrets(secret: Secret): WebhookSecrets {
  const box = createSealedBox(secret, "webhook secrets");
  const place = (uniqueOrganizationId: string) => [uniqueOrganizationId, "webhook"];
  // Opening a secret costs as much as the rest of a delivery. A sealed text can only be opened in one place.
  const opened = new Map<string, { secret: string; key: SigningKey }>();
  const open = (sealed: string, uniqueOrganizationId: string): { secret: string; key: SigningKey } | undefined => {
    const name = `${uniqueOrganizationId} ${sealed}`;
    const known = opened.get(name);
    if (known !== undefined) return known;
    const secret = box.open(sealed, place(uniqueOrganizationId));
    if (secret === undefined) return undefined;
    if (opened.size >= deliveryLimits.webhookSecretsOpened) opened.clear();
    const ready = { secret, key: signingKey(secret) };
    opened.set(name, ready);
    return ready;
  };
  const urlPlace = (uniqueOrganizationId: string) => [uniqueOrganizationId, "url"];
  const openUrl: WebhookSecrets["openUrl"] = ({ secret: sealed, unique_organization_id: id }) =>
    box.open(sealed, urlPlace(id));
  return {
    sealUrl: (url, uniqueOrganizationId) => box.seal(url, urlPlace(uniqueOrganizationId)),
    openUrl,
    isReadable: (webhook) => {
      if (webhook.channel === "email") return true;
      if (webhook.channel === "slack") return openUrl(webhook) !== undefined;
      return open(webhook.secret, webhook.unique_organization_id) !== undefined;
    },
    make: (uniqueOrganizationId) => {
      const made = secretPrefix + randomBytes(secretBytes).toString("base64");
      return { secret: made, sealed: box.seal(made, place(uniqueOrganizationId)) };
    },
    current: ({ secret: sealed, unique_organization_id: id }) => open(sealed, id)?.secret,
    signing: ({ secret: sealed, previous_secret, previous_secret_until, unique_organization_id: id }, nowMs) => {
      const current = open(sealed, id);
      if (current === undefined) return undefined;
      const isValid = previous_secret !== null && nowMs < Date.parse(previous_secret_until ?? "");
      const previous = isValid ? open(previous_secret, id) : undefined;
      return previous === undefined ? [current.key] : [current.key, previous.key];
    },
  };
}
