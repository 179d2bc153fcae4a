import { deliveryLimits } from "./limits.ts";
import type { DeliveryStore } from "../storage/control/delivery-store.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";

/**
 * Shortens the log of deliveries, in portions, because the control store may run on the main thread. Safe to run on
 * several nodes.
 */
export async function purgeDeliveries(
  {
    deliveries,
    directory,
    now,
  }: {
    deliveries: Pick<DeliveryStore, "purge" | "trim" | "dropDelivered" | "trimPayloads">;
    directory: Pick<WebhookDirectory, "ids">;
    now: () => number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { webhookPurgeRows: portion, webhookLogRows: keep } = deliveryLimits;
  const dedupedBefore = new Date(now() - deliveryLimits.webhookDedupeMs).toISOString();
  const inPortions = async (remove: () => Promise<number>): Promise<void> => {
    while (!signal.aborted && (await remove()) === portion) await new Promise((resolve) => setImmediate(resolve));
  };
  const before = new Date(now() - deliveryLimits.webhookLogMs).toISOString();
  await inPortions(() => deliveries.purge(before, portion));
  const sentBefore = new Date(now() - deliveryLimits.webhookPayloadMs).toISOString();
  await inPortions(() => deliveries.dropDelivered(sentBefore, portion));
  for (const id of directory.ids()) {
    await inPortions(() => deliveries.trim(id, { keep, before: dedupedBefore, limit: portion }));
    await inPortions(() => deliveries.trimPayloads(id, deliveryLimits.webhookRetainedBytes, portion));
  }
}
