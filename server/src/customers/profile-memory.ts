import { customerKeyText, type Customer, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { limits } from "../limits.ts";

/** Customers as they were read last, those that there are none of too. */
export type ProfileMemory = {
  remember(key: CustomerKey, customer: Customer | undefined): void;
  forget(key: CustomerKey): void;
  /** What is younger than `limits.cachedCustomerMs`, else what `read` gives; what is older where that fails. */
  recall(
    key: CustomerKey,
    read: () => Promise<Customer | undefined>,
  ): Customer | undefined | Promise<Customer | undefined>;
};

export function createProfileMemory(now: () => number): ProfileMemory {
  const memory = new ExpiringLru<string, { customer: Customer | undefined; readAtMs: number }>({
    maxEntries: limits.cachedCustomers,
    ttlMs: Number.MAX_SAFE_INTEGER,
    nowMs: now,
  });
  return {
    remember: (key, customer) => memory.set(customerKeyText(key), { customer, readAtMs: now() }),
    forget: (key) => memory.delete(customerKeyText(key)),
    recall(key, read) {
      const known = memory.get(customerKeyText(key));
      if (known === undefined) return read();
      if (now() - known.readAtMs < limits.cachedCustomerMs) return known.customer;
      return read().catch(() => known.customer);
    },
  };
}
