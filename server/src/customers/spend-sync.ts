import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { minTimeNs } from "../lib/time.ts";
import { customersLimits } from "./limits.ts";
import type { KnownSpend } from "../storage/control/customer-ledger.ts";
import type { SpanStore, TimeWindow } from "../storage/spans/span-store.ts";
import type { SpendLedger } from "./ledger-queue.ts";
import { budgetOf } from "./money.ts";

/**
 * Keeps the ledger in line with the spans, which do not only come from the gateway: a period begins with their cost so
 * far, and is compared with them periodically. A comparison never lowers the ledger. `unpricedUsd` is the amount that an
 * unpriced span counts as.
 */
export type SpendSync = {
  /**
   * Creates a customer's row, or begins a period. Waits for the spans' sum, but not long: a later comparison corrects
   * it.
   */
  open(key: CustomerKey, periodStart: string, unpricedUsd: number): Promise<void>;
  /** A call was admitted or refused: includes the customer in the next comparison. */
  note(key: CustomerKey, periodStart: string, unpricedUsd: number): void;
  /** Compares the customers noted since the last time, many with one query. */
  compare(signal: AbortSignal): Promise<void>;
};

type Noted = { key: CustomerKey; periodStart: string; unpricedUsd: number };

/** Customers with the same scope, period and price of unpriced spans. */
type Group = { keys: CustomerKey[]; periodStart: string; unpricedUsd: number };

type Stores = { ledger: Pick<SpendLedger, "begin" | "open">; spans: Pick<SpanStore, "describeCustomers"> };

export function createSpendSync(
  deps: Stores & {
    /** Called for each customer whose ledger covers the spans until `untilMs`. */
    compared: (key: CustomerKey, untilMs: number) => void;
    logger: Logger;
    now: () => number;
  },
): SpendSync {
  const { ledger, compared, logger, now } = deps;
  const noted = new Map<string, Noted>();
  const opening = new Map<string, Promise<void>>();

  /** The span of a call may be stored before its settlement, which would then count twice. */
  const settledMs = () => now() - customersLimits.customerSettledMs;
  const raise = async (group: Group, untilMs: number, signal: AbortSignal): Promise<void> => {
    const window = { fromNs: minTimeNs, toNs: BigInt(untilMs) * 1_000_000n };
    await write(await readSpend(deps, group, { window, signal }), (key, spend) => ledger.open(key, spend));
  };
  /** If another node has begun meanwhile, its calls may already be among the spans, and not yet settled. */
  const begin = async (group: Group, signal: AbortSignal): Promise<void> => {
    let isElsewhere = false;
    await write(await readSpend(deps, group, { signal }), async (key, spend) => {
      if (!(await ledger.begin(key, spend))) isElsewhere = true;
    });
    if (isElsewhere) await raise(group, settledMs(), signal);
  };
  const failed = (error: unknown): void =>
    logger.warn({ err: error }, "the cost of customers' spans could not be read; retrying");

  return {
    async open(key, periodStart, unpricedUsd) {
      const text = `${customerKeyText(key)}\n${periodStart}`;
      const already = opening.get(text);
      if (already !== undefined) return already;
      const patience = AbortSignal.timeout(customersLimits.customerSpendMs);
      const opened = Promise.race([
        begin({ keys: [key], periodStart, unpricedUsd }, patience).catch(failed),
        sleep(customersLimits.customerSpendMs, undefined, { ref: false }),
      ]).then(async () => void (await ledger.begin(key, { periodStart, period: 0n, total: 0n })));
      opening.set(text, opened);
      try {
        await opened;
      } finally {
        opening.delete(text);
      }
    },
    note(key, periodStart, unpricedUsd) {
      if (noted.size < customersLimits.cachedCustomers)
        noted.set(customerKeyText(key), { key, periodStart, unpricedUsd });
    },
    async compare(signal) {
      const groups = groupsOf([...noted.values()]);
      noted.clear();
      const untilMs = settledMs();
      for (const group of groups) {
        signal.throwIfAborted();
        try {
          await raise(group, untilMs, signal);
          for (const key of group.keys) compared(key, untilMs);
        } catch (error) {
          signal.throwIfAborted();
          failed(error);
          for (const key of group.keys) this.note(key, group.periodStart, group.unpricedUsd);
        }
      }
    },
  };
}

type Read = { key: CustomerKey; spend: KnownSpend };

/** The cost of the spans of these customers. */
async function readSpend(
  { spans }: Pick<Stores, "spans">,
  { keys, periodStart, unpricedUsd }: Group,
  { window, signal }: { window?: TimeWindow; signal: AbortSignal },
): Promise<Read[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const { organization_id, environment } = first;
  const read = await spans.describeCustomers(
    {
      scope: { organization_id, environment },
      identifiers: keys.map((key) => key.customer_identifier),
      window,
      periodFromNs: periodStart === "" ? undefined : BigInt(Date.parse(periodStart)) * 1_000_000n,
    },
    signal,
  );
  return read.map(({ customer_identifier, period_cost, total_cost, period_unpriced, total_unpriced }) => ({
    key: { organization_id, environment, customer_identifier },
    spend: {
      periodStart,
      period: budgetOf(period_cost + unpricedUsd * period_unpriced),
      total: budgetOf(total_cost + unpricedUsd * total_unpriced),
    },
  }));
}

async function write(
  reads: readonly Read[],
  to: (key: CustomerKey, spend: KnownSpend) => Promise<void>,
): Promise<void> {
  await Promise.all(reads.map(({ key, spend }) => to(key, spend)));
}

function groupsOf(noted: readonly Noted[]): Group[] {
  const open = new Map<string, Group>();
  const groups: Group[] = [];
  for (const { key, periodStart, unpricedUsd } of noted) {
    const text = `${key.organization_id}\n${key.environment}\n${periodStart}\n${unpricedUsd}`;
    const group = open.get(text);
    if (group !== undefined && group.keys.length < customersLimits.customersCompared) group.keys.push(key);
    else {
      const next = { keys: [key], periodStart, unpricedUsd };
      open.set(text, next);
      groups.push(next);
    }
  }
  return groups;
}
