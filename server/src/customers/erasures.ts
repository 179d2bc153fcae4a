import type { CustomerErasure, CustomerKey } from "../domain/customer.ts";
import type { SpanCounter } from "../counting/span-counter.ts";
import {
  createErasedCustomers,
  customerFingerprint,
  endOfMs,
  type ErasedCustomers,
} from "../ingest/accept/erased-customers.ts";
import { customersLimits } from "./limits.ts";
import { domainLimits } from "../domain/limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { CustomerErasureStore } from "../storage/control/customer-erasure-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { CustomerReplicator } from "./customer-replicator.ts";
import type { CustomerProfiles } from "./profiles.ts";

/**
 * Deletes customers permanently: docs/adr/0036-erasure-is-permanent.md. First the deletion is recorded, so that spans
 * arriving from then on are recognized. Then everything accepted before is stored, then spans are rewritten without the
 * name. Spans still in transit are rewritten when they are stored, and `sweep` handles those of nodes that did not know
 * of the deletion.
 */
export type CustomerErasures = {
  /**
   * Removes the customer from every read before it resolves. Each step is idempotent, and until the last one the
   * customer exists and can be deleted again.
   * @param settle waits, with a time limit, until everything this node has accepted is stored
   */
  erase(customer: CustomerKey, settle: () => Promise<void>): Promise<void>;
  /** Removes the name from spans that were received before the deletion and stored after it. */
  eraseLate(customer: CustomerKey): Promise<void>;
  /** Learns of other nodes' deletions, and repeats deletions for spans of nodes that did not know of them. */
  sweep(settle: () => Promise<void>, signal: AbortSignal): Promise<void>;
  /** Keeps only the fingerprints of customers that were deleted more than a day ago. */
  deleteNames(): Promise<void>;
};

export type CustomerErasureDeps = {
  erasedCustomers: ErasedCustomers;
  stores: ControlStores;
  spans: Pick<SpanStore, "unnameCustomer">;
  counter: Pick<SpanCounter, "unname">;
  replicator: Pick<CustomerReplicator, "remove">;
  profiles: Pick<CustomerProfiles, "find">;
  /** Drops a customer from memory. */
  evict: (customer: CustomerKey) => void;
  /** Removes the customer from webhook payloads and the audit log. */
  eraseCopies: (customer: CustomerKey) => Promise<void>;
  now: () => number;
};

/** The audit log's name of a deleted customer. Whoever knows the identifier can verify that it was this customer. */
export function erasedTarget(customer: CustomerKey): string {
  return `deleted:${customerFingerprint(customer)}`;
}

/** Loads all customers that were ever deleted. Call it before anything is accepted. */
export async function loadErasedCustomers(store: CustomerErasureStore): Promise<ErasedCustomers> {
  const erased = createErasedCustomers();
  for await (const { erasures } of pagesOf(store, "")) for (const erasure of erasures) erased.add(erasure);
  return erased;
}

export function createCustomerErasures(deps: CustomerErasureDeps): CustomerErasures {
  const { erasedCustomers, stores, spans, counter, profiles, evict, eraseCopies, now } = deps;
  let sweptAtMs = now();

  const takeName = async (key: CustomerKey, erasedNs?: bigint, signal?: AbortSignal): Promise<void> => {
    await spans.unnameCustomer(key, erasedNs, signal);
    await counter.unname(key);
  };
  const eraseAgain = async (erasure: CustomerErasure, signal: AbortSignal): Promise<void> => {
    const { fingerprint: _fingerprint, erasedAtMs, customer_identifier, ...tenant } = erasure;
    if (customer_identifier === undefined) return;
    const key = { ...tenant, customer_identifier };
    await takeName(key, endOfMs(erasedAtMs), signal);
    const profile = await profiles.find(key);
    // Created by a node that did not know of the deletion. A new customer was first seen after it.
    if (profile !== undefined && Date.parse(profile.first_seen) <= erasedAtMs) await removeProfile(deps, key);
    evict(key);
    await eraseCopies(key);
  };

  return {
    async erase(key, settle) {
      // Not before its last change, which a node may have made whose clock is ahead: a customer that is made after this
      // time replaces the removed copy.
      const changedAtMs = Date.parse((await profiles.find(key))?.updated_at ?? "") || 0;
      const erasure = { ...key, fingerprint: customerFingerprint(key), erasedAtMs: Math.max(now(), changedAtMs) };
      await stores.customerErasures.add(erasure);
      erasedCustomers.add(erasure);
      await settle();
      await takeName(key);
      await eraseCopies(key);
      await removeProfile(deps, key);
    },
    async eraseLate(key) {
      const erasedNs = erasedCustomers.erasedAtNs(key);
      if (erasedNs !== undefined) await takeName(key, erasedNs);
    },
    async sweep(settle, signal) {
      const startedAtMs = now();
      const oldestMs = sweptAtMs - Math.max(...sweepAgesMs) - domainLimits.traceDeletionOverlapMs;
      for await (const { erasures } of pagesOf(stores.customerErasures, new Date(oldestMs).toISOString())) {
        const added = erasures.filter((erasure) => erasedCustomers.add(erasure));
        if (added.length > 0) await settle();
        const again = erasures.filter((each) => added.includes(each) || isDue(each, sweptAtMs, startedAtMs));
        for (const erasure of again) {
          signal.throwIfAborted();
          await eraseAgain(erasure, signal);
        }
      }
      sweptAtMs = startedAtMs;
    },
    deleteNames: () =>
      stores.customerErasures.deleteNames(new Date(now() - customersLimits.erasedNameMs).toISOString()),
  };
}

async function removeProfile(
  { stores, replicator, profiles, evict }: Pick<CustomerErasureDeps, "stores" | "replicator" | "profiles" | "evict">,
  key: CustomerKey,
): Promise<void> {
  const profile = await profiles.find(key);
  // The copy goes first: a missing customer cannot be marked for copying.
  if (profile !== undefined) await replicator.remove(profile);
  const updated_at = await stores.transaction(async (set) => {
    await set.customerLedger.delete(key);
    return await set.customers.remove(key);
  });
  // Another node has changed it meanwhile, and its copy is newer than the removal.
  if (updated_at !== undefined && updated_at !== profile?.updated_at) await replicator.remove({ ...key, updated_at });
  evict(key);
}

/**
 * Times after a deletion at which it is repeated: another node learns of it and stores accepted spans within seconds.
 */
const sweepAgesMs = [3_000, 30_000, 300_000];

function isDue({ erasedAtMs }: CustomerErasure, sweptAtMs: number, startedAtMs: number): boolean {
  return sweepAgesMs.some((ageMs) => erasedAtMs + ageMs > sweptAtMs && erasedAtMs + ageMs <= startedAtMs);
}

async function* pagesOf(store: CustomerErasureStore, since: string) {
  let page = await store.list(since);
  yield page;
  while (page.next !== undefined) {
    page = await store.list(since, page.next);
    yield page;
  }
}
