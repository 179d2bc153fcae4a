import { Counter, Gauge, type Registry } from "prom-client";

export function createCustomerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    refusedCalls: new Counter({
      name: "spanway_customer_refusals_total",
      help: "Gateway calls refused by a budget or a rate limit of their customer",
      labelNames: ["reason"],
      registers,
    }),
    replicationFailures: new Counter({
      name: "spanway_customer_copy_failures_total",
      help: "Failures to copy customers to the span store, which were retried",
      registers,
    }),
    ledgerFailures: new Counter({
      name: "spanway_customer_settlement_failures_total",
      help: "Failures to add the cost of a call to the ledger, which were retried",
      registers,
    }),
    ledgerRefusals: new Counter({
      name: "spanway_customer_ledger_refusals_total",
      help: "Gateway calls refused because too many waited for the ledger of budgets",
      registers,
    }),
    rateStoreFailures: new Counter({
      name: "spanway_customer_rate_store_failures_total",
      help: "Calls of customers counted on this node only, because the shared cache did not respond",
      registers,
    }),
  };
}

/** The number of remembered deleted customers, and whether it has reached its bound. */
export function watchErasedCustomers(
  registry: Registry,
  erased: { stats(): { customers: number; evicted: number } },
): void {
  const registers = [registry];
  const customers: Gauge = new Gauge({
    name: "spanway_erased_customers",
    help: "Deleted customers that this node remembers, so that resent spans do not name them",
    registers,
    collect: () => customers.set(erased.stats().customers),
  });
  const evicted: Counter = new Counter({
    name: "spanway_erased_customers_forgotten_total",
    help: "Deleted customers that were forgotten because there were too many",
    registers,
    collect() {
      evicted.reset();
      evicted.inc(erased.stats().evicted);
    },
  });
}
