import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { customersLimits } from "./limits.ts";
import type { SpanRow } from "../domain/span.ts";
import { isReceivedBefore, type ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import type { SpanSubscriber, StoredSpans } from "../ingest/fan-out/fan-out.ts";
import type { CustomerProfiles, CustomerObservation } from "./profiles.ts";

/**
 * Creates and updates the customers that stored spans name. Most spans state nothing new about their customer: those
 * cost one lookup in memory.
 */
export type CustomerObserver = SpanSubscriber & {
  /** Makes the next span that names the customer be processed again. */
  evict(key: CustomerKey): void;
};

type Seen = Pick<CustomerObservation, "firstSeen"> & { email: string | undefined; name: string | undefined };

export function createCustomerObserver(deps: {
  profiles: Pick<CustomerProfiles, "observeAll">;
  erasedCustomers: Pick<ErasedCustomers, "erasedAtNs">;
  /** Removes the name of a deleted customer from spans that were received before the deletion and stored after it. */
  eraseLate: (customer: CustomerKey) => Promise<void>;
  now: () => number;
}): CustomerObserver {
  const seen = new ExpiringLru<string, Seen>({
    maxEntries: customersLimits.cachedCustomers,
    ttlMs: customersLimits.cachedCustomerMs,
    nowMs: deps.now,
  });
  return {
    name: "customers",
    wants: () => true,
    concerns: ({ customer_identifier }) => customer_identifier !== undefined && customer_identifier !== "",
    evict: (key) => seen.delete(customerKeyText(key)),
    seesErased: true,
    readsContent: false,
    async consume(batch) {
      const isLate = (row: SpanRow): boolean => isReceivedBefore(row, deps.erasedCustomers.erasedAtNs(row));
      const late = new Map<string, CustomerKey>();
      const current = batch.map(({ organizationId, rows }) => ({
        organizationId,
        rows: rows.filter((row) => {
          if (!isLate(row)) return true;
          const { organization_id, environment, customer_identifier = "" } = row;
          const key = { organization_id, environment, customer_identifier };
          late.set(customerKeyText(key), key);
          return false;
        }),
      }));
      for (const key of late.values()) await deps.eraseLate(key);
      const observed = observationsOf(current);
      const changed = [...observed].filter(([text, observation]) => hasChanged(seen.get(text), observation));
      await deps.profiles.observeAll(changed.map(([, observation]) => observation));
      for (const [text, { stated, firstSeen }] of changed) {
        const before = seen.get(text);
        const earlier = before !== undefined && before.firstSeen < firstSeen ? before.firstSeen : firstSeen;
        seen.set(text, {
          firstSeen: earlier,
          email: stated.email ?? before?.email ?? undefined,
          name: stated.name ?? before?.name ?? undefined,
        });
      }
    },
  };
}

/** One per customer of the batch. If several spans name a customer, the last one counts. */
function observationsOf(batch: readonly StoredSpans[]): Map<string, CustomerObservation> {
  const observed = new Map<string, CustomerObservation>();
  for (const { rows } of batch) {
    for (const row of rows) {
      const { organization_id, environment, customer_identifier } = row;
      if (customer_identifier === undefined || customer_identifier === "") continue;
      const key = { organization_id, environment, customer_identifier };
      const text = customerKeyText(key);
      const firstSeen = isoTimeOf(row.timestamp);
      const observation = observed.get(text) ?? { key, stated: {}, firstSeen };
      if (firstSeen < observation.firstSeen) observation.firstSeen = firstSeen;
      if (row.customer_email) observation.stated.email = row.customer_email;
      if (row.customer_name) observation.stated.name = row.customer_name;
      observed.set(text, observation);
    }
  }
  return observed;
}

function hasChanged(seen: Seen | undefined, { stated, firstSeen }: CustomerObservation): boolean {
  if (seen === undefined || firstSeen < seen.firstSeen) return true;
  return (
    (stated.email !== undefined && stated.email !== seen.email) ||
    (stated.name !== undefined && stated.name !== seen.name)
  );
}

/** A stored time, to the millisecond. */
function isoTimeOf(stored: string): string {
  return `${stored.slice(0, 10)}T${stored.slice(11, 23)}Z`;
}
