import type { SharedLimit } from "../lib/fair-share.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CustomerKey } from "../domain/customer.ts";
import { ServiceError } from "../domain/errors.ts";
import { randomToken } from "../lib/random-token.ts";
import { customersLimits } from "./limits.ts";
import { httpLimits } from "../http/limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import type { CustomerLedger, ReservationRequest, SpendState } from "../storage/control/customer-ledger.ts";
import { createLedgerBatches } from "./ledger-batches.ts";

/** What customers spend, shared by all nodes of a control store. */
export type SpendLedger = {
  /** @throws ServiceError `unavailable` if the control store fails */
  reserve(
    request: Omit<ReservationRequest, "id" | "nodeId" | "expiresAt"> & Publishing & OfCall,
  ): Promise<ReserveOutcome>;
  begin: CustomerLedger["begin"];
  open: CustomerLedger["open"];
  find: CustomerLedger["find"];
  /** Retried until the store accepts it. Never rejects. */
  settle(settlement: Settlement): void;
  /**
   * Settles a call of an earlier process, unless that process did: `spent` null means the reserved amount. A budget
   * reached by it is reported with the next call.
   * @throws ServiceError `unavailable`
   */
  recall(key: CustomerKey, call: { callId: string; spent: bigint | null }): Promise<void>;
  renew(): Promise<void>;
  /** Operations that wait for their transaction. */
  limit: SharedLimit;
  /** Resolves once all settlements are stored, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** `whole`: the customer's budgets, if the bounds of the request are lower. */
type Publishing = { publishReached: PublishReached; whole?: Budgets };

/** `callId` finds the reservation after its process has died. */
type OfCall = { callId?: string | undefined };

export type Budgets = Pick<ReservationRequest, "periodStart" | "periodBudget" | "totalBudget">;
export type ReachedBudget = "period" | "total";

export type ReserveOutcome =
  /** `amount` is less than requested if the call takes all that is left. */
  | { kind: "reserved"; id: string; amount: bigint; state: SpendState }
  | { kind: "over"; state: SpendState }
  /** The row is missing or belongs to another period: `begin` it. */
  | { kind: "unopened" };

/**
 * Records, in the transaction that finds budgets used up, that events are to be sent: both commit together. Called only
 * if there are any; the returned function is called after the commit.
 */
export type PublishReached = (
  set: ControlStoreSet,
  reached: readonly ReachedBudget[],
  state: SpendState,
) => Promise<() => void>;

export type Settlement = {
  key: CustomerKey;
  id: string;
  spent: bigint;
  budgets: Budgets;
  publishReached: PublishReached;
};

export function createSpendLedger(deps: {
  stores: Pick<ControlStores, "transaction" | "customerLedger">;
  logger: Logger;
  /** Called with the customer's new spending. */
  onSettled?: (key: CustomerKey, state: SpendState) => void;
  onSettlementFailure: () => void;
  /** Called for each call that is refused because too many are queued. */
  onRefused: () => void;
  maxQueued?: number;
  now: () => number;
}): SpendLedger {
  const { stores, logger, onSettled = () => undefined, onSettlementFailure, onRefused, now } = deps;
  const nodeId = randomToken(12);
  const batches = createLedgerBatches(stores, deps.maxQueued);
  let unsettled = 0;
  const isoIn = (ms: number) => new Date(now() + ms).toISOString();

  /** Resolves with the result of `run`, after the commit. */
  const enqueue = <T>(key: CustomerKey, run: (set: ControlStoreSet) => Promise<Committed<T>>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (!batches.hasRoom(key.organization_id)) {
        onRefused();
        return reject(budgetUnavailable());
      }
      batches.add({
        key,
        run: async (set) => {
          const { result, committed } = await run(set);
          return () => {
            committed();
            resolve(result);
          };
        },
        failed: (error) => reject(budgetUnavailable(error)),
      });
    });

  const settle = (settlement: Settlement): void =>
    batches.add({
      key: settlement.key,
      run: async (set) => {
        const { result: state, committed } = await settleIn(set, settlement);
        return () => {
          unsettled -= 1;
          if (state !== undefined) onSettled(settlement.key, state);
          committed();
        };
      },
      failed: (error) => {
        onSettlementFailure();
        retries.add(settlement, error);
      },
    });

  const retries = createRetries(settle, logger);

  return {
    reserve: ({ callId = "", ...request }) => {
      const id = `${callId}.${randomToken(16)}`;
      const reservation = { ...request, id, nodeId, expiresAt: isoIn(customersLimits.customerReservationMs) };
      return enqueue(request.key, (set) => reserveIn(set, reservation, isoIn(0)));
    },
    begin: (key, spend) => enqueue(key, async ({ customerLedger }) => plain(await customerLedger.begin(key, spend))),
    open: (key, spend) => enqueue(key, async ({ customerLedger }) => plain(await customerLedger.open(key, spend))),
    find: (key) => stores.customerLedger.find(key),
    settle(settlement) {
      unsettled += 1;
      settle(settlement);
    },
    async recall(key, call) {
      await enqueue(key, async ({ customerLedger }) => plain(await recallIn(customerLedger, key, call)));
    },
    async renew() {
      // Queued with the other transactions, because they change the same reservations.
      await enqueue(noCustomer, async ({ customerLedger }) =>
        plain(await customerLedger.renew(nodeId, isoIn(customersLimits.customerReservationMs))),
      );
      await stores.transaction(({ customerLedger }) => customerLedger.releaseExpired(isoIn(0)));
    },
    limit: batches.limit,
    async stop(graceMs) {
      const deadlineMs = performance.now() + graceMs;
      while (unsettled > 0 && performance.now() < deadlineMs) await sleep(httpLimits.shutdownSweepMs);
      retries.stop();
      await batches.idle();
    },
  };
}

/** Settlements that fail at the same time are retried together, so that an outage does not flood the log. */
function createRetries(settle: (settlement: Settlement) => void, logger: Logger) {
  let failed: Settlement[] = [];
  let timer: NodeJS.Timeout | undefined;
  const again = (error: unknown): void => {
    logger.error({ err: error, calls: failed.length }, "the spending of customers could not be stored; retrying");
    const settlements = failed;
    [failed, timer] = [[], undefined];
    settlements.forEach(settle);
  };
  return {
    add(settlement: Settlement, error: unknown): void {
      failed.push(settlement);
      timer ??= setTimeout(() => again(error), customersLimits.customerLedgerRetryMs).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

const noCustomer: CustomerKey = { organization_id: "", environment: "prod", customer_identifier: "" };

/** The result of a transaction, and a function to call after the commit. */
type Committed<T> = { result: T; committed: () => void };

function plain<T>(result: T): Committed<T> {
  return { result, committed: () => undefined };
}

async function reserveIn(
  set: ControlStoreSet,
  { publishReached, whole, ...request }: ReservationRequest & Publishing,
  nowIso: string,
): Promise<Committed<ReserveOutcome>> {
  const { key, id, amount } = request;
  const { customerLedger: ledger } = set;
  const reserved = await ledger.reserve(request);
  if (reserved !== undefined) return plain({ kind: "reserved", id, amount, state: reserved });
  let state = await ledger.find(key);
  if (state === undefined || state.periodStart !== request.periodStart) return plain({ kind: "unopened" });
  if ((await ledger.releaseExpired(nowIso, key)) > 0) {
    const again = await ledger.reserve(request);
    if (again !== undefined) return plain({ kind: "reserved", id, amount, state: again });
    state = (await ledger.find(key)) ?? state;
  }
  const rest = restOf(state, request);
  if (rest > 0n) {
    // Another node may have opened the row, or settled, since the first attempt: then the call fits.
    const less = rest < amount ? rest : amount;
    const alone = await ledger.reserve({ ...request, amount: less });
    if (alone !== undefined) return plain({ kind: "reserved", id, amount: less, state: alone });
  }
  const reached = await reachedOf(ledger, { ...request, ...whole }, state);
  const committed = reached.length === 0 ? plain(0).committed : await publishReached(set, reached, state);
  return { result: { kind: "over", state }, committed };
}

/**
 * The amount for a call that might cost more than is left: all of it if no other call has a reservation, so that the
 * rest can be spent, by one call at a time. Otherwise 0.
 */
function restOf({ period, total, reserved }: SpendState, { periodBudget, totalBudget }: Budgets): bigint {
  if (reserved > 0n) return 0n;
  const ofPeriod = periodBudget === undefined ? undefined : periodBudget - period;
  const ofTotal = totalBudget === undefined ? undefined : totalBudget - total;
  if (ofPeriod === undefined || ofTotal === undefined) return ofPeriod ?? ofTotal ?? 0n;
  return ofPeriod < ofTotal ? ofPeriod : ofTotal;
}

async function settleIn(
  set: ControlStoreSet,
  { key, id, spent, budgets, publishReached }: Settlement,
): Promise<Committed<SpendState | undefined>> {
  const { customerLedger: ledger } = set;
  const state = await ledger.settle(key, { id, spent });
  const reached = state === undefined ? [] : await reachedOf(ledger, { key, ...budgets }, state);
  if (state === undefined || reached.length === 0) return plain(state);
  return { result: state, committed: await publishReached(set, reached, state) };
}

async function recallIn(
  ledger: CustomerLedger,
  key: CustomerKey,
  { callId, spent }: { callId: string; spent: bigint | null },
): Promise<void> {
  const reservation = await ledger.findReservation(key, callId);
  if (reservation !== undefined) await ledger.settle(key, { id: reservation.id, spent: spent ?? reservation.amount });
}

/** The budgets that spending has used up, each once a period. Reserved amounts do not count: they may be released. */
async function reachedOf(
  ledger: CustomerLedger,
  { key, periodStart, periodBudget, totalBudget }: Budgets & { key: CustomerKey },
  state: SpendState,
): Promise<ReachedBudget[]> {
  const reached: ReachedBudget[] = [];
  if (periodBudget !== undefined && state.periodStart === periodStart && state.period >= periodBudget) {
    if (await ledger.markReached(key, { kind: "period", periodStart, budget: periodBudget })) reached.push("period");
  }
  if (totalBudget !== undefined && state.total >= totalBudget) {
    if (await ledger.markReached(key, { kind: "total", budget: totalBudget })) reached.push("total");
  }
  return reached;
}

export function budgetUnavailable(cause?: unknown): ServiceError {
  return new ServiceError("unavailable", "The customer's budget cannot be checked now. Try again.", {
    retryAfterS: 1,
    cause,
  });
}
