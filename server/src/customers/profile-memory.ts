import { customerKeyText, type Customer, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { customersLimits } from "./limits.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";

/** Customers as they were read last, those that there are none of too. */
export type ProfileMemory = {
  remember(key: CustomerKey, customer: Customer | undefined): void;
  forget(key: CustomerKey): void;
  /** Whether every customer with a budget or a rate limit was remembered of late. */
  setComplete(hasAllBounded: boolean): void;
  /**
   * What is younger than `customersLimits.cachedCustomerMs`, else what `read` gives. What is older while the control store does not answer;
   * nobody where all customers that have a bound are in memory.
   */
  recall(
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
    forget: (key) => memory.delete(customerKeyText(key)),
    recall(key, read) {
      const known = memory.get(customerKeyText(key));
      if (known !== undefined && now() - known.readAtMs < customersLimits.cachedCustomerMs) return known.customer;
      const stale = known !== undefined || hasAllBounded ? () => known?.customer : undefined;
      return control.orStale("customer", read, stale);
    },
  };
}
