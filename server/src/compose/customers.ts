import type { WatchLimits } from "../lib/fair-share.ts";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { SpanCounter } from "../counting/span-counter.ts";
import { createLimitAudit } from "../customers/audit-limits.ts";
import { createBudgets, budgetEvent, type Budgets } from "../customers/budgets.ts";
import { createCallRates } from "../customers/call-rates.ts";
import { startCustomerReplicator } from "../customers/customer-replicator.ts";
import { createCustomers, type Customers } from "../customers/customers.ts";
import { createCustomerErasures, erasedTarget, type CustomerErasures } from "../customers/erasures.ts";
import { createSpendLedger } from "../customers/ledger-queue.ts";
import { createCustomerProfiles } from "../customers/profiles.ts";
import { createCustomerObserver } from "../customers/customer-observer.ts";
import { createStaleBudgets } from "../customers/stale-budgets.ts";
import { learnBoundedCustomers } from "../customers/bounded-customers.ts";
import { createSpendSync } from "../customers/spend-sync.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { Events } from "../delivery/events.ts";
import { eraseCustomerInPayloads } from "../delivery/erase-payloads.ts";
import type { ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { customersLimits } from "../customers/limits.ts";
import { httpLimits } from "../http/limits.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createCustomerMetrics, watchErasedCustomers } from "../telemetry/customer-metrics.ts";

export type CustomerParts = {
  stores: ControlStores;
  control: ControlWatch;
  erasedCustomers: ErasedCustomers;
  spans: SpanStore;
  counter: Pick<SpanCounter, "unname">;
  /** Destination of rows: waits for the tables of a remote store. */
  store: Pick<SpanStore, "insert">;
  /** A connected client, if nodes share their counts. */
  redis: object | undefined;
  events: Pick<Events, "publishWithin">;
  registry: Registry;
  watchLimits: WatchLimits;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
};

export type CustomerEngines = {
  customers: Customers;
  budgets: Budgets;
  erasures: CustomerErasures;
  subscriber: SpanSubscriber;
};

/** Customer profiles, spend and budgets. */
export function composeCustomers(parts: CustomerParts): CustomerEngines {
  const { stores, control, erasedCustomers, spans, store, redis, events, registry, logger, cleanup, now } = parts;
  const metrics = createCustomerMetrics(registry);
  const replicator = startCustomerReplicator({
    customers: stores.customers,
    spans: store,
    logger,
    onFailure: () => metrics.replicationFailures.inc(),
  });
  cleanup.push(() => replicator.stop());
  const changed = () => replicator.wake();
  const profiles = createCustomerProfiles({ customers: stores.customers, control, erasedCustomers, changed, now });
  watchErasedCustomers(registry, erasedCustomers);
  const erasures: CustomerErasures = createCustomerErasures({
    erasedCustomers,
    stores,
    spans,
    counter: parts.counter,
    replicator,
    profiles,
    evict: (key) => {
      profiles.evict(key);
      spending.evict(key);
      sightings.evict(key);
    },
    eraseCopies: async (key) => {
      await eraseCustomerInPayloads(stores.deliveries, key);
      await stores.alerts.eraseCustomer(key);
      await stores.auditLog.unname(key, erasedTarget(key));
    },
    now,
  });
  const sightings = createCustomerObserver({
    profiles,
    erasedCustomers,
    eraseLate: (key) => erasures.eraseLate(key),
    now,
  });
  const ledger = createSpendLedger({
    stores,
    logger,
    onSettled: (key, state) => spending.learn(key, state),
    onSettlementFailure: () => metrics.ledgerFailures.inc(),
    onRefused: () => metrics.ledgerRefusals.inc(),
    now,
  });
  cleanup.push(() => ledger.stop(httpLimits.shutdownGraceMs));
  parts.watchLimits({ customerLedgerQueued: ledger.limit });
  const renewal = scheduleJob(
    { name: "customer reservations", everyMs: customersLimits.customerReservationRenewEveryMs, logger },
    () => ledger.renew(),
  );
  cleanup.push(() => renewal.stop());
  const spending = createStaleBudgets({ ledger, control, now });
  const bounded = scheduleJob(
    { name: "customers with budgets", everyMs: customersLimits.boundedCustomersEveryMs, logger },
    () => learnBoundedCustomers({ customers: stores.customers, profiles, spending }),
  );
  cleanup.push(() => bounded.stop());
  const sync = createSpendSync({ ledger, spans, compared: (...of) => spending.compared(...of), logger, now });
  const comparison = scheduleJob(
    { name: "customer spend", everyMs: customersLimits.customerSpendSyncMs, logger },
    (signal) => sync.compare(signal),
  );
  cleanup.push(() => comparison.stop());
  const budgets = createBudgets({
    profiles,
    control,
    ledger: spending,
    recall: (key, call) => ledger.recall(key, call),
    sync,
    rates: createCallRates({ redis, onStoreFailure: () => metrics.rateStoreFailures.inc() }),
    auditLimits: createLimitAudit({ ...stores, logger, now }),
    onRefused: (reason) => metrics.refusedCalls.inc({ reason }),
    publishReached: (set, reached) => events.publishWithin(set, reached.map(budgetEvent)),
    now,
  });
  const customers = createCustomers({ stores, profiles, replicator, erasures, spans });
  return { customers, budgets, erasures, subscriber: sightings };
}
