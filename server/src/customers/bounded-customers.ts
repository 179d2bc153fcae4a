import { customersLimits } from "./limits.ts";
import type { CustomerStore } from "../storage/control/customer-store.ts";
import type { CustomerProfiles } from "./profiles.ts";
import type { StaleBudgets } from "./stale-budgets.ts";

/**
 * Loads the customers with a budget or a rate limit and what they have spent, so that a node knows them while the
 * control store is unavailable, including customers that it has had no call of. If there are more than the limit, it
 * loads only some.
 */
export async function learnBoundedCustomers(deps: {
  customers: Pick<CustomerStore, "listBounded">;
  profiles: Pick<CustomerProfiles, "learnBounded">;
  spending: Pick<StaleBudgets, "learn">;
}): Promise<void> {
  const listed = await deps.customers.listBounded(customersLimits.boundedCustomers + 1);
  const customers = listed.map(({ customer }) => customer);
  deps.profiles.learnBounded(customers, listed.length <= customersLimits.boundedCustomers);
  for (const { customer, spend = nothingSpent } of listed) deps.spending.learn(customer, spend);
}

const nothingSpent = { periodStart: "", period: 0n, total: 0n, reserved: 0n };
