import { deliveryLimits } from "./limits.ts";
import type { DeliveryStore } from "../storage/control/delivery-store.ts";

/**
 * The queue length of each webhook, so that one that accepts nothing does not fill the control store. It is recounted
 * periodically and updated in between. Other nodes enqueue and deliver too, so the bound may be exceeded slightly.
 */
export type Backlog = {
  refresh(): Promise<void>;
  hasRoom(webhookId: number, bytes: number): boolean;
  added(webhookId: number, bytes: number): void;
  finished(webhookId: number, bytes: number): void;
  /** The sum over all webhooks. */
  total(): { rows: number; bytes: number };
};

export function createBacklog(deliveries: Pick<DeliveryStore, "backlog">): Backlog {
  let waiting = new Map<number, { rows: number; bytes: number }>();
  const change = (webhookId: number, rows: number, bytes: number): void => {
    const known = waiting.get(webhookId) ?? { rows: 0, bytes: 0 };
    waiting.set(webhookId, { rows: Math.max(0, known.rows + rows), bytes: Math.max(0, known.bytes + bytes) });
  };
  return {
    async refresh() {
      const counted = await deliveries.backlog();
      waiting = new Map(counted.map(({ webhook_id, rows, bytes }) => [webhook_id, { rows, bytes }]));
    },
    hasRoom(webhookId, bytes) {
      const known = waiting.get(webhookId);
      if (known === undefined) return true;
      return known.rows < deliveryLimits.webhookQueueRows && known.bytes + bytes <= deliveryLimits.webhookQueueBytes;
    },
    added: (webhookId, bytes) => change(webhookId, 1, bytes),
    finished: (webhookId, bytes) => change(webhookId, -1, -bytes),
    total: () =>
      [...waiting.values()].reduce((sum, { rows, bytes }) => ({ rows: sum.rows + rows, bytes: sum.bytes + bytes }), {
        rows: 0,
        bytes: 0,
      }),
  };
}
