import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CustomerKey } from "../domain/customer.ts";
import { ServiceError } from "../domain/errors.ts";
import { randomToken } from "../lib/random-token.ts";
import { limits } from "../limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { CustomerLedger, ReservationRequest, SpendState } from "../storage/control/customer-ledger.ts";
import { createLedgerBatches } from "./ledger-batches.ts";

/** What customers spend, as the nodes that share a control store see it together. */
export type SpendLedger = {
  /** @throws ServiceError `unavailable` when the control store does not take it */
  reserve(request: Omit<ReservationRequest, "id" | "nodeId" | "expiresAt">): Promise<ReserveOutcome>;
  open: CustomerLedger["open"];
  find: CustomerLedger["find"];
  /** Tried again until the store takes it. Never rejects. */
  settle(settlement: Settlement, onSettled: (reached: ReachedBudget[]) => void): void;
  renew(): Promise<void>;
  /** Resolves once all that was settled is stored, or `graceMs` is over. */
  stop(graceMs: number): Promise<void>;
};

export type Budgets = Pick<ReservationRequest, "periodStart" | "periodBudget" | "totalBudget">;
export type ReachedBudget = "period" | "total";

export type ReserveOutcome =
  | { kind: "reserved"; id: string; state: SpendState }
  | { kind: "over"; state: SpendState; reached: ReachedBudget[] }
  /** There is no row yet, or it is of another period: `open` it. */
  | { kind: "unopened" };

export type Settlement = { key: CustomerKey; id: string; spent: bigint; budgets: Budgets };

export function createSpendLedger(deps: {
  stores: Pick<ControlStores, "transaction" | "customerLedger">;
  logger: Logger;
  onSettlementFailure: () => void;
  now: () => number;
}): SpendLedger {
  const { stores, logger, onSettlementFailure, now } = deps;
  const nodeId = randomToken(12);
  const batches = createLedgerBatches(stores);
  const retries = new Set<NodeJS.Timeout>();
  let unsettled = 0;
  const isoIn = (ms: number) => new Date(now() + ms).toISOString();

  /** Resolves with what `run` answered, once it is committed. */
  const enqueue = <T>(key: CustomerKey, run: (ledger: CustomerLedger) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (batches.size() >= limits.customerLedgerQueued) return reject(unavailable());
      batches.add({
        key,
        run: async (ledger) => {
          const result = await run(ledger);
          return () => resolve(result);
        },
        failed: (error) => reject(unavailable(error)),
      });
    });

  const settle = (settlement: Settlement, onSettled: (reached: ReachedBudget[]) => void): void =>
    batches.add({
      key: settlement.key,
      run: async (ledger) => {
        const reached = await settleIn(ledger, settlement);
        return () => {
          unsettled -= 1;
          onSettled(reached);
        };
      },
      failed: (error) => {
        onSettlementFailure();
        logger.error({ err: error }, "what a customer spent could not be stored; it is tried again");
        const retry = setTimeout(() => {
          retries.delete(retry);
          settle(settlement, onSettled);
        }, limits.customerLedgerRetryMs).unref();
        retries.add(retry);
      },
    });

  return {
    reserve: (request) => {
      const reservation = { ...request, id: randomToken(16), nodeId, expiresAt: isoIn(limits.customerReservationMs) };
      return enqueue(request.key, (ledger) => reserveIn(ledger, reservation, isoIn(0)));
    },
    open: (key, spend) => enqueue(key, (ledger) => ledger.open(key, spend)),
    find: (key) => stores.customerLedger.find(key),
    settle(settlement, onSettled) {
      unsettled += 1;
      settle(settlement, onSettled);
    },
    async renew() {
      // In the row of transactions, as they change the same reservations.
      await enqueue(noCustomer, (ledger) => ledger.renew(nodeId, isoIn(limits.customerReservationMs)));
      await stores.transaction(({ customerLedger }) => customerLedger.releaseExpired(isoIn(0)));
    },
    async stop(graceMs) {
      const deadlineMs = performance.now() + graceMs;
      while (unsettled > 0 && performance.now() < deadlineMs) await sleep(limits.shutdownSweepMs);
      for (const retry of retries) clearTimeout(retry);
      await batches.idle();
    },
  };
}

const noCustomer: CustomerKey = { organization_id: "", environment: "prod", customer_identifier: "" };

async function reserveIn(ledger: CustomerLedger, request: ReservationRequest, nowIso: string): Promise<ReserveOutcome> {
  const { key, id } = request;
  const reserved = await ledger.reserve(request);
  if (reserved !== undefined) return { kind: "reserved", id, state: reserved };
  const state = await ledger.find(key);
  if (state === undefined || state.periodStart !== request.periodStart) return { kind: "unopened" };
  if ((await ledger.releaseExpired(nowIso, key)) > 0) {
    const again = await ledger.reserve(request);
    if (again !== undefined) return { kind: "reserved", id, state: again };
  }
  return { kind: "over", state, reached: await reachedOf(ledger, request, state, request.amount) };
}

async function settleIn(ledger: CustomerLedger, { key, id, spent, budgets }: Settlement): Promise<ReachedBudget[]> {
  const state = await ledger.settle(key, { id, spent });
  return state === undefined ? [] : reachedOf(ledger, { key, ...budgets }, { ...state, reserved: 0n }, 0n);
}

/** The budgets that are used up, each once a period. @param wanted what a refused call would have cost */
async function reachedOf(
  ledger: CustomerLedger,
  { key, periodStart, periodBudget, totalBudget }: Budgets & { key: CustomerKey },
  state: SpendState,
  wanted: bigint,
): Promise<ReachedBudget[]> {
  const reached: ReachedBudget[] = [];
  if (
    periodBudget !== undefined &&
    state.periodStart === periodStart &&
    isUsedUp(state.period, state, wanted, periodBudget)
  ) {
    if (await ledger.markReached(key, { periodStart })) reached.push("period");
  }
  if (totalBudget !== undefined && isUsedUp(state.total, state, wanted, totalBudget)) {
    if (await ledger.markReached(key, "total")) reached.push("total");
  }
  return reached;
}

export function isUsedUp(
  spent: bigint,
  { reserved }: Pick<SpendState, "reserved">,
  wanted: bigint,
  budget: bigint,
): boolean {
  return spent + reserved + wanted > budget || spent + reserved >= budget;
}

function unavailable(cause?: unknown): ServiceError {
  return new ServiceError("unavailable", "The customer's budget cannot be checked now. Try again.", {
    retryAfterS: 1,
    cause,
  });
}
