import { customerKeyText, type Customer, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { customersLimits } from "./limits.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";

/** Caches the last read of each customer, also when the customer does not exist. */
export type ProfileMemory = {
  remember(key: CustomerKey, customer: Customer | undefined): void;
  evict(key: CustomerKey): void;
  /** Sets whether every customer with a budget or a rate limit was recently remembered. */
  setComplete(hasAllBounded: boolean): void;
  /**
   * Returns an entry younger than `customersLimits.cachedCustomerMs`, otherwise the result of `read`. While the control
   * store is unavailable, returns an older entry, or undefined if all customers with limits are in memory.
   */
  findCached(
    key: CustomerKey,
    read: () => Promise<Customer | undefined>,
  ): Customer | undefined | Promise<Customer | undefined>;
};

export function createProfileMemory({
  control,
  now,
}: {
  control: Pick<ControlWatch, "orStale">;
  now: () => number;
}): ProfileMemory {
  let hasAllBounded = false;
  const memory = new ExpiringLru<string, { customer: Customer | undefined; readAtMs: number }>({
    maxEntries: customersLimits.cachedCustomers,
    ttlMs: Number.MAX_SAFE_INTEGER,
    nowMs: now,
  });
  return {
    setComplete: (isComplete) => void (hasAllBounded = isComplete),
    remember: (key, customer) => memory.set(customerKeyText(key), { customer, readAtMs: now() }),
    evict: (key) => memory.delete(customerKeyText(key)),
    findCached(key, read) {
      const known = memory.get(customerKeyText(key));
      if (known !== undefined && now() - known.readAtMs < customersLimits.cachedCustomerMs) return known.customer;
      const stale = known !== undefined || hasAllBounded ? () => known?.customer : undefined;
      return control.orStale("customer", read, stale);
    },
  };
}
