import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { customersLimits } from "./limits.ts";
import type { SpanRow } from "../domain/span.ts";
import { isReceivedBefore, type ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import type { SpanSubscriber, StoredSpans } from "../ingest/fan-out/fan-out.ts";
import type { CustomerProfiles, Heard } from "./profiles.ts";

/**
 * Creates and updates the customers that stored spans name. Most spans state nothing new about their customer: those
 * cost one lookup in memory.
 */
export type SpanSightings = SpanSubscriber & {
  /** Makes the next span that names the customer be processed again. */
  forget(key: CustomerKey): void;
};

type Seen = Pick<Heard, "firstSeen"> & { email: string | undefined; name: string | undefined };

export function createSpanSightings(deps: {
  profiles: Pick<CustomerProfiles, "hearAll">;
  erasedCustomers: Pick<ErasedCustomers, "erasedAtNs">;
  /** Removes the name of a deleted customer from spans that were received before the deletion and stored after it. */
  eraseLate: (customer: CustomerKey) => Promise<void>;
  now: () => number;
}): SpanSightings {
  const seen = new ExpiringLru<string, Seen>({
    maxEntries: customersLimits.cachedCustomers,
    ttlMs: customersLimits.cachedCustomerMs,
    nowMs: deps.now,
  });
  return {
    name: "customers",
    wants: () => true,
    concerns: ({ customer_identifier }) => customer_identifier !== undefined && customer_identifier !== "",
    forget: (key) => seen.delete(customerKeyText(key)),
    seesErased: true,
    readsContent: false,
    async take(batch) {
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
      const sighted = sightingsOf(current);
      const news = [...sighted].filter(([text, heard]) => isNews(seen.get(text), heard));
      await deps.profiles.hearAll(news.map(([, heard]) => heard));
      for (const [text, { said, firstSeen }] of news) {
        const before = seen.get(text);
        const earlier = before !== undefined && before.firstSeen < firstSeen ? before.firstSeen : firstSeen;
        seen.set(text, {
          firstSeen: earlier,
          email: said.email ?? before?.email ?? undefined,
          name: said.name ?? before?.name ?? undefined,
        });
      }
    },
  };
}

/** One per customer of the batch. If several spans name a customer, the last one counts. */
function sightingsOf(batch: readonly StoredSpans[]): Map<string, Heard> {
  const sighted = new Map<string, Heard>();
  for (const { rows } of batch) {
    for (const row of rows) {
      const { organization_id, environment, customer_identifier } = row;
      if (customer_identifier === undefined || customer_identifier === "") continue;
      const key = { organization_id, environment, customer_identifier };
      const text = customerKeyText(key);
      const firstSeen = isoTimeOf(row.timestamp);
      const heard = sighted.get(text) ?? { key, said: {}, firstSeen };
      if (firstSeen < heard.firstSeen) heard.firstSeen = firstSeen;
      if (row.customer_email) heard.said.email = row.customer_email;
      if (row.customer_name) heard.said.name = row.customer_name;
      sighted.set(text, heard);
    }
  }
  return sighted;
}

function isNews(seen: Seen | undefined, { said, firstSeen }: Heard): boolean {
  if (seen === undefined || firstSeen < seen.firstSeen) return true;
  return (
    (said.email !== undefined && said.email !== seen.email) || (said.name !== undefined && said.name !== seen.name)
  );
}

/** A stored time, to the millisecond. */
function isoTimeOf(stored: string): string {
  return `${stored.slice(0, 10)}T${stored.slice(11, 23)}Z`;
}
