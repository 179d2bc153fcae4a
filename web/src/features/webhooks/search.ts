import { textOf } from "../../lib/search.ts";

export type WebhooksSearch = {
  /** The id of the webhook whose deliveries are shown. */
  webhook?: number | undefined;
};

export function parseWebhooksSearch(search: Record<string, unknown>): WebhooksSearch {
  const webhook = Number(textOf(search, "webhook"));
  return Number.isInteger(webhook) && webhook > 0 ? { webhook } : {};
}
