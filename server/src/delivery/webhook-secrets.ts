import { randomBytes } from "node:crypto";
import { createSealedBox } from "../auth/sealed-box.ts";
import type { Webhook } from "../domain/webhook.ts";
import type { Secret } from "../lib/secret.ts";
import { limits } from "../limits.ts";
import { secretPrefix } from "./sign.ts";

/** Makes and keeps signing secrets: sealed at rest, and bound to their organisation. */
export type WebhookSecrets = {
  /** A new `whsec_…` with 192 bits, and what is stored of it. */
  make(uniqueOrganizationId: string): { secret: string; sealed: string };
  /** The current one; undefined when the instance's secret is no longer the one that sealed it. */
  current(webhook: Pick<Webhook, "unique_organization_id" | "secret">): string | undefined;
  /** Those that sign at this time, the newest first. */
  signing(webhook: Webhook, nowMs: number): string[];
};

const secretBytes = 24;

/** @param secret the instance's */
export function createWebhookSecrets(secret: Secret): WebhookSecrets {
  const box = createSealedBox(secret, "webhook secrets");
  const place = (uniqueOrganizationId: string) => [uniqueOrganizationId, "webhook"];
  // Opening costs as much as the rest of a delivery together. A sealed text opens in one place alone.
  const opened = new Map<string, string>();
  const open = (sealed: string, uniqueOrganizationId: string): string | undefined => {
    const key = `${uniqueOrganizationId} ${sealed}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const secret = box.open(sealed, place(uniqueOrganizationId));
    if (secret === undefined) return undefined;
    if (opened.size >= limits.webhookSecretsOpened) opened.clear();
    opened.set(key, secret);
    return secret;
  };
  return {
    make: (uniqueOrganizationId) => {
      const made = secretPrefix + randomBytes(secretBytes).toString("base64");
      return { secret: made, sealed: box.seal(made, place(uniqueOrganizationId)) };
    },
    current: ({ secret: sealed, unique_organization_id: id }) => open(sealed, id),
    signing: ({ secret: sealed, previous_secret, previous_secret_until, unique_organization_id: id }, nowMs) => {
      const isKept = previous_secret !== null && nowMs < Date.parse(previous_secret_until ?? "");
      const secrets = [open(sealed, id), isKept ? open(previous_secret, id) : undefined];
      return secrets.filter((each) => each !== undefined);
    },
  };
}
