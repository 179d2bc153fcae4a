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
import type { CustomerMirror } from "./customer-mirror.ts";
import type { CustomerProfiles } from "./profiles.ts";

/**
 * Deletes customers for good: docs/adr/0036-erasure-is-permanent.md. First the deletion is on record, so that what comes in from
 * here on is told apart, then what was accepted before is stored, then spans are written anew without the name. What was
 * still on its way is written anew when it is stored, and what another node did not know of by `sweep`.
 */
export type CustomerErasures = {
  /**
   * Gone from every read once it resolves; each step may be repeated, and until the last one there is a customer to delete.
   * @param settle waits until what this node has accepted is stored, for a while
   */
  erase(customer: CustomerKey, settle: () => Promise<void>): Promise<void>;
  /** Takes the name off spans that were received before and are stored only now. */
  eraseLate(customer: CustomerKey): Promise<void>;
  /** Learns of what other nodes deleted, and deletes again what they did not know of. */
  sweep(settle: () => Promise<void>, signal: AbortSignal): Promise<void>;
  /** Keeps of those deleted a day ago nothing but their fingerprints. */
  forgetNames(): Promise<void>;
};

export type CustomerErasureDeps = {
  erasedCustomers: ErasedCustomers;
  stores: ControlStores;
  spans: Pick<SpanStore, "unnameCustomer">;
  counter: Pick<SpanCounter, "unname">;
  mirror: Pick<CustomerMirror, "remove">;
  profiles: Pick<CustomerProfiles, "find">;
  /** Lets go of what memory holds of a customer. */
  forget: (customer: CustomerKey) => void;
  /** Takes the customer out of what webhooks and the audit log keep. */
  forgetCopies: (customer: CustomerKey) => Promise<void>;
  now: () => number;
};

/** What the audit log says of a deleted customer: whoever knows the identifier can tell that it was this one. */
export function erasedTarget(customer: CustomerKey): string {
  return `deleted:${customerFingerprint(customer)}`;
}

/** All that were ever deleted, read before anything is accepted. */
export async function loadErasedCustomers(store: CustomerErasureStore): Promise<ErasedCustomers> {
  const erased = createErasedCustomers();
  for await (const { erasures } of pagesOf(store, "")) for (const erasure of erasures) erased.add(erasure);
  return erased;
}

export function createCustomerErasures(deps: CustomerErasureDeps): CustomerErasures {
  const { erasedCustomers, stores, spans, counter, mirror, profiles, forget, forgetCopies, now } = deps;
  let sweptAtMs = now();

  const takeName = async (key: CustomerKey, erasedNs?: bigint, signal?: AbortSignal): Promise<void> => {
    await spans.unnameCustomer(key, erasedNs, signal);
    await counter.unname(key);
  };
  const removeProfile = async (key: CustomerKey): Promise<void> => {
    const profile = await profiles.find(key);
    // The copy goes first: a customer that is not there cannot be marked to be copied.
    if (profile !== undefined) await mirror.remove(profile);
    await stores.transaction(async (set) => {
      await set.customerLedger.forget(key);
      await set.customers.remove(key);
    });
    forget(key);
  };
  const eraseAgain = async (erasure: CustomerErasure, signal: AbortSignal): Promise<void> => {
    const { fingerprint: _fingerprint, erasedAtMs, customer_identifier, ...tenant } = erasure;
    if (customer_identifier === undefined) return;
    const key = { ...tenant, customer_identifier };
    await takeName(key, endOfMs(erasedAtMs), signal);
    const profile = await profiles.find(key);
    // Made by a node that had not heard of it: whoever is new was seen later.
    if (profile !== undefined && Date.parse(profile.first_seen) <= erasedAtMs) await removeProfile(key);
    forget(key);
    await forgetCopies(key);
  };

  return {
    async erase(key, settle) {
      const erasure = { ...key, fingerprint: customerFingerprint(key), erasedAtMs: now() };
      await stores.customerErasures.add(erasure);
      erasedCustomers.add(erasure);
      await settle();
      await takeName(key);
      await forgetCopies(key);
      await removeProfile(key);
    },
    async eraseLate(key) {
      const erasedNs = erasedCustomers.erasedAtNs(key);
      if (erasedNs !== undefined) await takeName(key, erasedNs);
    },
    async sweep(settle, signal) {
      const startedAtMs = now();
      const oldestMs = sweptAtMs - Math.max(...sweepAgesMs) - domainLimits.traceDeletionOverlapMs;
      for await (const { erasures } of pagesOf(stores.customerErasures, new Date(oldestMs).toISOString())) {
        const news = erasures.filter((erasure) => erasedCustomers.add(erasure));
        if (news.length > 0) await settle();
        const again = erasures.filter((each) => news.includes(each) || isDue(each, sweptAtMs, startedAtMs));
        for (const erasure of again) {
          signal.throwIfAborted();
          await eraseAgain(erasure, signal);
        }
      }
      sweptAtMs = startedAtMs;
    },
    forgetNames: () =>
      stores.customerErasures.forgetNames(new Date(now() - customersLimits.erasedNameMs).toISOString()),
  };
}

/** How long after a deletion it is repeated: another node hears of it and stores what it has accepted within seconds. */
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
