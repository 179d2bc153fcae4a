import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { minTimeNs } from "../lib/time.ts";
import { WorkGate } from "../lib/work-gate.ts";
import { limits } from "../limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { SpendLedger } from "./ledger-queue.ts";
import { budgetOf } from "./money.ts";

/**
 * Keeps the ledger true to the spans, which also come from elsewhere than the gateway: a period begins with what they
 * cost so far, and is compared with them again now and then. What the ledger knows of is never made less.
 */
export type SpendSync = {
  /** Begins a customer's row, or a period. Waits for the spans' sum, but not long: a later look makes up for it. */
  open(key: CustomerKey, periodStart: string): Promise<void>;
  /** Looks in the background, if it has been a while. */
  refresh(key: CustomerKey, periodStart: string): void;
  stop(): Promise<void>;
};

export function createSpendSync(deps: {
  ledger: Pick<SpendLedger, "open">;
  spans: Pick<SpanStore, "describeCustomers">;
  logger: Logger;
  now: () => number;
}): SpendSync {
  const { ledger, spans, logger, now } = deps;
  const seen = new ExpiringLru<string, true>({
    maxEntries: limits.cachedCustomers,
    ttlMs: limits.customerSpendSyncMs,
    nowMs: now,
  });
  const opening = new Map<string, Promise<void>>();
  const looks = new WorkGate({ maxInFlight: limits.customerSpendReads, maxQueued: limits.customerSpendReadsQueued });
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  const look = async (key: CustomerKey, periodStart: string, untilMs: number | undefined): Promise<void> => {
    const { organization_id, environment, customer_identifier } = key;
    const [said] = await spans.describeCustomers(
      {
        scope: { organization_id, environment },
        identifiers: [customer_identifier],
        window: untilMs === undefined ? undefined : { fromNs: minTimeNs, toNs: BigInt(untilMs) * 1_000_000n },
        periodFromNs: periodStart === "" ? undefined : BigInt(Date.parse(periodStart)) * 1_000_000n,
      },
      stopping.signal,
    );
    const [period, total] = [budgetOf(said?.period_cost ?? 0), budgetOf(said?.total_cost ?? 0)];
    await ledger.open(key, { periodStart, period, total });
  };
  const lookQuietly = async (key: CustomerKey, periodStart: string, untilMs?: number): Promise<void> => {
    const text = customerKeyText(key);
    seen.set(text, true);
    const looking = looks.run(() => look(key, periodStart, untilMs));
    if (looking === undefined) return seen.delete(text);
    await looking.catch((error: unknown) => {
      seen.delete(text);
      if (!stopping.signal.aborted) logger.warn({ err: error }, "what a customer's spans cost could not be read");
    });
  };
  const track = (work: Promise<void>): Promise<void> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };

  return {
    async open(key, periodStart) {
      const text = `${customerKeyText(key)}\n${periodStart}`;
      const already = opening.get(text);
      if (already !== undefined) return already;
      const opened = (async () => {
        const looked = track(lookQuietly(key, periodStart));
        await Promise.race([looked, sleep(limits.customerSpendMs, undefined, { ref: false })]);
        await ledger.open(key, { periodStart, period: 0n, total: 0n });
      })();
      opening.set(text, opened);
      try {
        await opened;
      } finally {
        opening.delete(text);
      }
    },
    refresh(key, periodStart) {
      if (seen.get(customerKeyText(key)) !== undefined) return;
      // The span of a call may be stored before its settlement is, which would then count twice.
      void track(lookQuietly(key, periodStart, now() - limits.customerSettledMs));
    },
    async stop() {
      stopping.abort(new Error("the server stops"));
      await Promise.all(underWay);
    },
  };
}
