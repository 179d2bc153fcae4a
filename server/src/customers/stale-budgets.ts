import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { randomToken } from "../lib/random-token.ts";
import { customersLimits } from "./limits.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { SpendState } from "../storage/control/customer-ledger.ts";
import { budgetUnavailable, type ReserveOutcome, type Settlement, type SpendLedger } from "./ledger-queue.ts";

/**
 * The ledger, and while the control store is unavailable, this node's last known state of it. Each node then admits
 * calls up to what was left of a budget. Their cost reaches the ledger with their spans; until then this node subtracts
 * it.
 */
export type StaleBudgets = Pick<SpendLedger, "reserve" | "settle"> & {
  /** Stores the ledger's state of a customer, just read. */
  learn(key: CustomerKey, state: SpendState): void;
  /** The ledger has been compared with the spans stored up to that time. */
  compared(key: CustomerKey, untilMs: number): void;
  evict(key: CustomerKey): void;
};

type Request = Parameters<SpendLedger["reserve"]>[0];

/** `spent` and `reserved`: by calls of this node that are not in the ledger, in the period and in total. */
type Known = {
  state: SpendState;
  own: { periodStart: string; period: bigint; total: bigint; reserved: bigint; lastMs: number };
};

export function createStaleBudgets(deps: {
  ledger: Pick<SpendLedger, "reserve" | "settle">;
  control: Pick<ControlWatch, "isDown" | "mayServeStale" | "check" | "whileUp" | "served">;
  now: () => number;
}): StaleBudgets {
  const { ledger, control, now } = deps;
  const memory = createSpendMemory(now);

  const reserveInLedger = async (request: Request): Promise<ReserveOutcome | undefined> => {
    const { key, periodStart, periodBudget, totalBudget } = request;
    const own = ownIn(periodStart, memory.find(key));
    const reserving = ledger.reserve({
      ...request,
      whole: { periodStart, periodBudget, totalBudget },
      periodBudget: periodBudget === undefined ? undefined : atLeast0(periodBudget - own.period),
      totalBudget: totalBudget === undefined ? undefined : atLeast0(totalBudget - own.total),
    });
    const done = await control.whileUp(reserving);
    if (done === undefined) {
      // The reservation may still succeed after its caller stopped waiting.
      void reserving.then(
        (late) => late.kind === "reserved" && ledger.settle(settlementOf(request, late.id)),
        () => undefined,
      );
      return undefined;
    }
    const { value: outcome } = done;
    if (outcome.kind === "unopened") return outcome;
    return { ...outcome, state: stateIn(periodStart, memory.learn(key, outcome.state)) };
  };
  const isLocal = () => control.isDown() && control.mayServeStale();
  const reserveLocally = (request: Request): ReserveOutcome | undefined => {
    const outcome = isLocal() ? memory.reserve(request) : undefined;
    if (outcome !== undefined) control.served("budget");
    return outcome;
  };

  return {
    async reserve(request) {
      let failure: unknown;
      if (!isLocal()) {
        try {
          const outcome = await reserveInLedger(request);
          if (outcome !== undefined) return outcome;
        } catch (error) {
          failure = error;
          await control.check();
        }
      }
      const outcome = reserveLocally(request);
      if (outcome === undefined) throw failure ?? budgetUnavailable();
      return outcome;
    },
    settle(settlement) {
      if (!memory.settle(settlement)) ledger.settle(settlement);
    },
    learn: (key, state) => void memory.learn(key, state),
    compared(key, untilMs) {
      const own = memory.find(key)?.own;
      if (own !== undefined && own.lastMs < untilMs) [own.period, own.total] = [0n, 0n];
    },
    evict: (key) => memory.evict(key),
  };
}

/** The last known state of each customer in the ledger, and what this node has admitted since then without it. */
function createSpendMemory(now: () => number) {
  const known = new ExpiringLru<string, Known>({
    maxEntries: customersLimits.cachedCustomers,
    ttlMs: Number.MAX_SAFE_INTEGER,
    nowMs: now,
  });
  const local = new Map<string, { key: CustomerKey; periodStart: string; amount: bigint }>();
  const find = (key: CustomerKey): Known | undefined => known.get(customerKeyText(key));
  return {
    find,
    learn(key: CustomerKey, state: SpendState): Known {
      const entry = find(key);
      if (entry !== undefined) {
        entry.state = state;
        return entry;
      }
      const made = { state, own: { periodStart: "", period: 0n, total: 0n, reserved: 0n, lastMs: 0 } };
      known.set(customerKeyText(key), made);
      return made;
    },
    /** Undefined if nothing is known of the customer. */
    reserve(request: Request): ReserveOutcome | undefined {
      const { key, periodStart } = request;
      const entry = find(key);
      if (entry === undefined) return undefined;
      const state = stateIn(periodStart, entry);
      const amount = admissible(state, request);
      if (amount === undefined) return { kind: "over", state };
      const id = randomToken(16);
      local.set(id, { key, periodStart, amount });
      entry.own.reserved += amount;
      return { kind: "reserved", id, amount, state: { ...state, reserved: state.reserved + amount } };
    },
    /** False if the reservation is in the ledger. */
    settle({ id, spent }: Pick<Settlement, "id" | "spent">): boolean {
      const reservation = local.get(id);
      if (reservation === undefined) return false;
      local.delete(id);
      const own = find(reservation.key)?.own;
      if (own === undefined) return true;
      if (own.periodStart !== reservation.periodStart) [own.periodStart, own.period] = [reservation.periodStart, 0n];
      own.reserved -= reservation.amount;
      own.period += spent;
      own.total += spent;
      own.lastMs = now();
      return true;
    },
    evict: (key: CustomerKey) => known.delete(customerKeyText(key)),
  };
}

function ownIn(periodStart: string, entry: Known | undefined): { period: bigint; total: bigint } {
  if (entry === undefined) return { period: 0n, total: 0n };
  const { own } = entry;
  const period = own.periodStart === periodStart ? own.period : 0n;
  return { period: period + own.reserved, total: own.total + own.reserved };
}

/** Includes what this node admitted itself. A period other than the known one begins with zero. */
function stateIn(periodStart: string, { state, own }: Known): SpendState {
  return {
    periodStart,
    period:
      (state.periodStart === periodStart ? state.period : 0n) + (own.periodStart === periodStart ? own.period : 0n),
    total: state.total + own.total,
    reserved: state.reserved + own.reserved,
  };
}

/** Decides like the ledger: the amount if it fits, or all that is left while no other call has a reservation. */
function admissible(state: SpendState, { amount, periodBudget, totalBudget }: Request): bigint | undefined {
  const left: bigint[] = [];
  if (periodBudget !== undefined) left.push(periodBudget - state.period - state.reserved);
  if (totalBudget !== undefined) left.push(totalBudget - state.total - state.reserved);
  const least = left.reduce((one, other) => (one < other ? one : other), left[0] ?? amount);
  if (left.length > 0 && least <= 0n) return undefined;
  if (amount <= least) return amount;
  return state.reserved > 0n ? undefined : least;
}

function settlementOf({ key, periodStart, periodBudget, totalBudget, publishReached }: Request, id: string) {
  return { key, id, spent: 0n, budgets: { periodStart, periodBudget, totalBudget }, publishReached };
}

const atLeast0 = (amount: bigint): bigint => (amount > 0n ? amount : 0n);
