import type { Delivery } from "../domain/webhook.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { DeliveryOutcome, DeliveryStore } from "../storage/control/delivery-store.ts";

/** So many of what is due for a webhook, until then. Times are ISO 8601, UTC. */
export type QueueClaim = { webhookId: number; now: string; until: string; limit: number };

/** The durable queue, as one node works it off. */
export type DeliveryQueue = Pick<DeliveryStore, "queues" | "abandon"> & {
  /**
   * Writes down how attempts ended and claims what comes next, together, as each transaction costs about as much as an
   * attempt. Answers what was claimed, by webhook. A power cut may lose it: then events are sent once more, with the same id.
   */
  turn(outcomes: readonly DeliveryOutcome[], claims: readonly QueueClaim[]): Promise<ReadonlyMap<number, Delivery[]>>;
};

export function createDeliveryQueue(stores: Pick<ControlStores, "deliveries" | "unflushed">): DeliveryQueue {
  const { queues, abandon } = stores.deliveries;
  return {
    queues,
    abandon,
    async turn(outcomes, claims) {
      if (outcomes.length + claims.length === 0) return new Map();
      // Nodes that claim of the same webhooks in another order would wait for each other.
      const inOrder = claims.toSorted((a, b) => a.webhookId - b.webhookId);
      return await stores.unflushed(async ({ deliveries }) => {
        await deliveries.finish(outcomes);
        const claimed = new Map<number, Delivery[]>();
        for (const { webhookId, ...claim } of inOrder) claimed.set(webhookId, await deliveries.claim(webhookId, claim));
        return claimed;
      });
    },
  };
}
