import type { Delivery } from "../domain/webhook.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { DeliveryOutcome, DeliveryStore } from "../storage/control/delivery-store.ts";

/** Claims up to `limit` due deliveries of a webhook until a time. Times are ISO 8601, UTC. */
export type QueueClaim = { webhookId: number; now: string; until: string; limit: number };

/** The durable queue, as one node uses it. */
export type DeliveryQueue = Pick<DeliveryStore, "queues" | "abandon"> & {
  /**
   * Records the outcomes of attempts and claims the next deliveries in one transaction, because a transaction costs
   * about as much as an attempt. Returns the claimed deliveries by webhook. A power failure may lose the transaction:
   * then events are sent once more, with the same id.
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
      // Nodes that claim from the same webhooks in different orders would wait for each other.
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
