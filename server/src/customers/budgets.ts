import type { WebhookEvent } from "../delivery/events.ts";
import { customerLimits, type Customer, type CustomerKey } from "../domain/customer.ts";
import { ServiceError } from "../domain/errors.ts";
import type { Environment } from "../domain/principal.ts";
import { isObject } from "../lib/json.ts";
import type { ControlStoreSet } from "../storage/control/control-stores.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { AuditLimits } from "./audit-limits.ts";
import type { CallRates } from "./call-rates.ts";
import { readCustomerChange, type CustomerChange } from "./fields.ts";
import type { Budgets as Bounds, ReachedBudget, ReserveOutcome, SpendLedger, PublishReached } from "./ledger-queue.ts";
import { isoOf, limitInfo, type LimitInfo } from "./limit-info.ts";
import { amountOf, budgetOf } from "./money.ts";
import { periodAt, type Period } from "./periods.ts";
import { changedFields, type CustomerProfiles } from "./profiles.ts";
import type { SpendSync } from "./spend-sync.ts";

/**
 * Decides whether a call of a customer may be made. Its highest cost is reserved before and settled after, in a ledger
 * shared by all nodes, so that concurrent calls never spend a budget twice.
 *
 * A customer without a budget or a rate limit only costs a lookup in memory.
 */
export type Budgets = {
  /**
   * @throws ServiceError `invalid_request` for invalid customer_params; `unavailable` if a budget cannot be checked
   * because the control store is unavailable
   */
  admit(call: BudgetedCall): Admission | Promise<Admission>;
  /** Applies the customer params of a call that needs no admission. @throws ServiceError `invalid_request` */
  observe(call: Omit<BudgetedCall, "estimateUsd">): Promise<void>;
  /**
   * Settles a call whose process died before settling it, if that has not happened yet. @throws ServiceError
   * `unavailable`
   */
  recall(call: CustomerKey & { callId: string; costUsd: number | null }): Promise<void>;
};

export type BudgetedCall = {
  organizationId: string;
  environment: Environment;
  customerIdentifier: string | undefined;
  /** As the caller sent them. Their budgets apply to the customer from then on, until they are changed. */
  customerParams?: unknown;
  /**
   * The highest cost of the call in USD; null if unknown: then only a used-up budget refuses the call. A call that may
   * cost more than is left reserves all of it, and passes if no other call has a reservation.
   */
  estimateUsd: number | null;
  /** `recall` finds the reservation by it. */
  callId?: string | undefined;
};

export type Admission =
  | {
      isAllowed: true;
      limitInfo: LimitInfo;
      /**
       * Ends the reservation. Call it for every outcome, at least once. Null: the cost is unknown, and the reservation
       * counts as spent. 0: nothing was spent. `costUsd` is called only if something was reserved.
       */
      settle(costUsd: () => number | null): void;
    }
  | {
      isAllowed: false;
      limitInfo: LimitInfo;
      code: "budget_exceeded" | "rate_limited";
      message: string;
      retryAfterS?: number;
    };

/**
 * A budget that spending has used up. Reported once per period, once for a total budget, and again after it was raised.
 */
export type BudgetReached = { customer: Customer; budget: ReachedBudget; limitInfo: LimitInfo };

export type BudgetDeps = {
  profiles: Pick<CustomerProfiles, "findCached" | "observe">;
  ledger: Pick<SpendLedger, "reserve" | "settle">;
  recall: SpendLedger["recall"];
  control: Pick<ControlWatch, "isDown" | "mayServeStale">;
  sync: Pick<SpendSync, "open" | "note">;
  rates: CallRates;
  auditLimits: AuditLimits;
  onRefused: (reason: Exclude<LimitInfo["reason"], null>) => void;
  /**
   * Records the events in the transaction that reached the budget. The returned function is called after the commit.
   */
  publishReached: (set: ControlStoreSet, reached: readonly BudgetReached[]) => Promise<() => void>;
  now: () => number;
};

export function createBudgets(deps: BudgetDeps): Budgets {
  return {
    admit(call) {
      // Without a customer there is nothing to check.
      const key = keyOf(call);
      return key === undefined
        ? unlimited(limitInfo({ estimateUsd: call.estimateUsd }))
        : admitCustomer(deps, call, key);
    },
    async observe(call) {
      const key = keyOf(call);
      if (key !== undefined) await customerOf(deps, key, { customerParams: call.customerParams });
    },
    async recall({ callId, costUsd, ...key }) {
      await deps.recall(key, { callId, spent: costUsd === null ? null : amountOf(costUsd) });
    },
  };
}

async function admitCustomer(deps: BudgetDeps, call: BudgetedCall, key: CustomerKey): Promise<Admission> {
  const admission = await decide(deps, call, key);
  const { reason } = admission.limitInfo;
  if (reason !== null) deps.onRefused(reason);
  return admission;
}

async function decide(deps: BudgetDeps, call: BudgetedCall, key: CustomerKey): Promise<Admission> {
  const { estimateUsd, callId } = call;
  const customer = await customerOf(deps, key, call);
  if (customer === undefined) return unlimited(limitInfo({ estimateUsd }));
  if (customer.rate_limit !== null) {
    const retryAfterS = await deps.rates.count(key, customer.rate_limit);
    if (retryAfterS !== undefined) return tooMany(customer, estimateUsd, retryAfterS);
  }
  const admission = await decideBudget(deps, { key, customer, estimateUsd, callId });
  // Waiting a minute would not help a call that the budget refuses.
  if (!admission.isAllowed && customer.rate_limit !== null) await deps.rates.uncount(key);
  return admission;
}

async function decideBudget(deps: BudgetDeps, call: Omit<BoundedCall, "period">): Promise<Admission> {
  const { key, customer, estimateUsd, callId } = call;
  const period = budgetPeriod(customer, deps.now());
  if (period === undefined && customer.total_budget === null) return unlimited(limitInfo({ customer, estimateUsd }));
  if (estimateUsd !== null) return await admitWithin(deps, { key, customer, period, estimateUsd, callId });
  const { unpriced_calls } = customer;
  if (unpriced_calls === "refuse") return unpriced(customer, period);
  const admission = await admitWithin(deps, { key, customer, period, estimateUsd: unpriced_calls, callId });
  if (unpriced_calls === null) admission.limitInfo.warnings = [countsAsNothing];
  return admission;
}

const countsAsNothing =
  "The price of this model is not known: the call counts as nothing in the customer's budget. State a price at /api/model-prices/, or what " +
  "such calls count as in the customer's unpriced_calls.";

function unpriced(customer: Customer, period: Period | undefined): Blocked {
  const message =
    "The price of this model is not known, and the customer's budget refuses such calls (unpriced_calls). State its price at " +
    "/api/model-prices/, or call a model that has one.";
  const info = limitInfo({ customer, period, estimateUsd: null, reason: "unpriced_call" });
  return { isAllowed: false, limitInfo: info, code: "budget_exceeded", message };
}

function keyOf({ organizationId, environment, customerIdentifier, customerParams }: Omit<BudgetedCall, "estimateUsd">) {
  const named = isObject(customerParams) ? customerParams["customer_identifier"] : undefined;
  const identifier = customerIdentifier ?? (typeof named === "string" ? named : undefined);
  if (identifier === undefined || identifier === "") return undefined;
  return { organization_id: organizationId, environment, customer_identifier: identifier };
}

async function customerOf(
  { profiles, control, auditLimits }: Pick<BudgetDeps, "profiles" | "control" | "auditLimits">,
  key: CustomerKey,
  { customerParams, callId }: Pick<BudgetedCall, "customerParams" | "callId">,
): Promise<Customer | undefined> {
  const customer = await profiles.findCached(key);
  const change = readParams(customerParams);
  if (change === undefined) return customer;
  const changed = changedFields(customer ?? { sent: {} }, change);
  if (Object.keys(changed).length === 0) return customer;
  // The change is applied by the next call that sends it.
  if (control.isDown() && control.mayServeStale()) return customer;
  const next = await profiles.observe(key, changed);
  const limits = Object.entries(changed).filter(([field]) => areLimits.has(field));
  if (limits.length > 0) await auditLimits({ key, changes: Object.fromEntries(limits), callId });
  return next;
}

const areLimits: ReadonlySet<string> = new Set(customerLimits);

function readParams(params: unknown): CustomerChange | undefined {
  if (!isObject(params)) return undefined;
  const read = readCustomerChange(params, "customer_params.");
  if ("change" in read) return read.change;
  const [field, messages] = Object.entries(read.errors)[0] ?? ["customer_params", []];
  throw new ServiceError("invalid_request", `${field}: ${messages[0] ?? "is not valid"}`, { errors: read.errors });
}

/** The period whose budget applies; undefined if none does. */
function budgetPeriod(customer: Customer, nowMs: number): Period | undefined {
  const { period_budget, budget_duration, period_end } = customer;
  if (period_budget === null || (budget_duration === null && period_end === null)) return undefined;
  return periodAt(customer, nowMs);
}

type BoundedCall = Pick<BudgetedCall, "estimateUsd" | "callId"> & {
  key: CustomerKey;
  customer: Customer;
  period: Period | undefined;
};

async function admitWithin(deps: BudgetDeps, call: BoundedCall): Promise<Admission> {
  const { key, customer, period, estimateUsd, callId } = call;
  const amount = amountOf(estimateUsd ?? 0);
  const bounds: Bounds = {
    periodStart: period === undefined ? "" : isoOf(period.startMs),
    periodBudget: period && budgetOf(customer.period_budget ?? 0),
    totalBudget: customer.total_budget === null ? undefined : budgetOf(customer.total_budget),
  };
  const publishReached: PublishReached = (set, reached, state) => {
    const info = limitInfo({ customer, period, state, estimateUsd });
    return deps.publishReached(
      set,
      reached.map((budget) => ({ customer, budget, limitInfo: info })),
    );
  };
  const outcome = await reserve(deps, { key, callId, amount, ...bounds, publishReached }, usdOfUnpriced(customer));
  deps.sync.note(key, bounds.periodStart, usdOfUnpriced(customer));
  if (outcome.kind === "over") return overBudget(call, outcome, bounds, amount);
  const info = limitInfo({ customer, period, state: outcome.state, estimateUsd });
  let isSettled = false;
  return {
    isAllowed: true,
    limitInfo: info,
    settle(costUsd) {
      if (isSettled) return;
      isSettled = true;
      const cost = costUsd();
      const unpricedUsd = usdOfUnpriced(customer);
      const unknown = unpricedUsd > 0 ? amountOf(unpricedUsd) : outcome.amount;
      const spent = cost === null ? unknown : amountOf(cost);
      deps.ledger.settle({ key, id: outcome.id, spent, budgets: bounds, publishReached });
    },
  };
}

async function reserve(
  { ledger, sync }: BudgetDeps,
  request: Parameters<SpendLedger["reserve"]>[0],
  unpricedUsd: number,
): Promise<Exclude<ReserveOutcome, { kind: "unopened" }>> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const outcome = await ledger.reserve(request);
    if (outcome.kind !== "unopened") return outcome;
    await sync.open(request.key, request.periodStart, unpricedUsd);
  }
  // Nodes that know different periods reopen the row in turn, until the customer's change has reached all of them.
  throw new ServiceError("unavailable", "The customer's budget is being changed. Try again.", { retryAfterS: 1 });
}

type Blocked = Extract<Admission, { isAllowed: false }>;

function overBudget(
  { customer, period, estimateUsd }: BoundedCall,
  { state }: Extract<ReserveOutcome, { kind: "over" }>,
  { periodBudget }: Bounds,
  amount: bigint,
): Blocked {
  const taken = state.period + state.reserved;
  const isPeriod = periodBudget !== undefined && (taken + amount > periodBudget || taken >= periodBudget);
  const reason = isPeriod ? "period_budget" : "total_budget";
  const info = limitInfo({ customer, period, state, estimateUsd, reason });
  const [budget, usage] = isPeriod ? [info.period_budget, info.period_usage] : [info.total_budget, info.total_usage];
  const until = isPeriod && info.period_end !== null ? ` until ${info.period_end}` : "";
  const wanted = estimateUsd === null ? "" : `, and this call may cost ${shown(estimateUsd)} USD`;
  const message =
    `The customer's ${isPeriod ? "period" : "total"} budget of ${shown(budget)} USD${until} does not allow this call: ` +
    `${shown(usage)} USD are spent, ${shown(info.reserved)} USD are reserved for calls under way${wanted}.`;
  return { isAllowed: false, limitInfo: info, code: "budget_exceeded", message };
}

function tooMany(customer: Customer, estimateUsd: number | null, retryAfterS: number): Blocked {
  const limit = customer.rate_limit ?? 0;
  const message = `The customer may make ${limit} ${limit === 1 ? "request" : "requests"} a minute. Try again in ${retryAfterS} s.`;
  const info = limitInfo({ customer, estimateUsd, reason: "rate_limit" });
  return { isAllowed: false, limitInfo: info, code: "rate_limited", message, retryAfterS };
}

function unlimited(info: LimitInfo): Admission {
  return { isAllowed: true, limitInfo: info, settle: () => undefined };
}

function usdOfUnpriced({ unpriced_calls }: Customer): number {
  return typeof unpriced_calls === "number" ? unpriced_calls : 0;
}

function shown(usd: number | null): string {
  return String(Number((usd ?? 0).toPrecision(6)));
}

/**
 * `customer_budget_limit_reached`: the customer, the budget and its state. Sent once, and again after the budget was
 * raised.
 */
export function budgetEvent({ customer, budget, limitInfo }: BudgetReached): WebhookEvent {
  const { organization_id, environment, customer_identifier, email, name } = customer;
  const { period_budget, period_usage, period_start, period_end, total_budget, total_usage, reserved } = limitInfo;
  return {
    type: "customer_budget_limit_reached",
    organizationId: organization_id,
    environment,
    id: JSON.stringify([
      customer_identifier,
      ...(budget === "period" ? [period_start, period_budget] : [total_budget]),
    ]),
    payload: {
      unique_organization_id: organization_id,
      environment,
      customer_identifier,
      email,
      name,
      budget: `${budget}_budget`,
      period_budget,
      period_usage,
      period_start,
      period_end,
      total_budget,
      total_usage,
      reserved,
    },
  };
}
