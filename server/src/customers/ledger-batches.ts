import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { FairShare, type SharedLimit } from "../lib/fair-share.ts";
import { customersLimits } from "./limits.ts";
import { controlOutage } from "../storage/control/control-outage.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";

/** One change of a customer's row. `failed` is called if its transaction did not commit: then nothing of it applies. */
type Operation = {
  key: CustomerKey;
  /** Returns a function that is called after the commit. */
  run: (set: ControlStoreSet) => Promise<() => void>;
  failed: (error: unknown) => void;
};

export type LedgerBatches = {
  add(operation: Operation): void;
  /** Whether the organization may queue another operation that can be refused. Counts a refusal if not. */
  hasRoom(organizationId: string): boolean;
  limit: SharedLimit;
  idle(): Promise<void>;
};

/**
 * Combines concurrent changes into one transaction, because a commit costs a flush of the disk. Rows are changed in a
 * fixed order, so that two nodes never deadlock.
 */
export function createLedgerBatches(
  stores: Pick<ControlStores, "transaction">,
  maxQueued: number = customersLimits.customerLedgerQueued,
): LedgerBatches {
  const queue: Operation[] = [];
  const places = new FairShare(maxQueued);
  let running: Promise<void> | undefined;

  const commit = (batch: readonly Operation[]): Promise<Array<() => void>> =>
    stores.transaction(async (set) => {
      const done: Array<() => void> = [];
      for (const operation of batch) done.push(await operation.run(set));
      return done;
    });
  const runBatch = async (batch: Operation[]): Promise<void> => {
    batch.sort(byCustomer);
    try {
      // Retried once, in case of a conflict with another node's release of expired reservations, or a lost connection.
      const committed = await commit(batch).catch(() => commit(batch));
      for (const done of committed) done();
    } catch (error) {
      // Unless the store is away, one of them is the cause: it must not fail the others.
      if (batch.length > 1 && controlOutage(error) === undefined) for (const each of batch) await runBatch([each]);
      else for (const { failed } of batch) failed(error);
    }
  };
  const drain = async (): Promise<void> => {
    // Operations of the same turn of the event loop are combined.
    await new Promise(setImmediate);
    while (queue.length > 0) {
      const batch = queue.splice(0, customersLimits.customerLedgerBatch);
      for (const { key } of batch) places.release(key.organization_id, 1);
      await runBatch(batch);
    }
    running = undefined;
  };

  return {
    add(operation) {
      queue.push(operation);
      places.acquire(operation.key.organization_id, 1);
      running ??= drain();
    },
    hasRoom(organizationId) {
      const hasRoom = places.available(organizationId) > 0;
      if (!hasRoom) places.note("refused");
      return hasRoom;
    },
    limit: places,
    idle: async () => running,
  };
}

function byCustomer({ key: one }: Operation, { key: other }: Operation): number {
  const [a, b] = [customerKeyText(one), customerKeyText(other)];
  return a === b ? 0 : a < b ? -1 : 1;
}
