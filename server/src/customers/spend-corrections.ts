import type { CustomerKey } from "../domain/customer.ts";
import { customersLimits } from "./limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { budgetOf } from "./money.ts";

/** The cost of the spans of some customers with budgets, as their ledger counts it. */
export type SpendNoted = ReadonlyArray<{ key: CustomerKey; periodStart: string; period: bigint; total: bigint }>;

/**
 * Adjusts budgets when the cost of stored spans changes: call `note` before, change the spans, call `correct` after.
 * The ledger never falls by more than the spans did; spending in between stays counted. If the change is aborted before
 * its correction, a budget may count too much until its period ends, but never too little.
 */
export type SpendCorrections = {
  note(
    scope: Pick<CustomerKey, "organization_id" | "environment">,
    identifiers: readonly string[],
  ): Promise<SpendNoted>;
  correct(before: SpendNoted): Promise<void>;
};

export function createSpendCorrections(deps: {
  stores: Pick<ControlStores, "customers" | "customerLedger" | "transaction">;
  spans: Pick<SpanStore, "describeCustomers">;
}): SpendCorrections {
  const { stores, spans } = deps;

  const readSpend = async (keys: readonly CustomerKey[], periodStart: string): Promise<SpendNoted> => {
    const [first] = keys;
    if (first === undefined) return [];
    const { organization_id, environment } = first;
    const [spend, profiles] = await Promise.all([
      spans.describeCustomers({
        scope: { organization_id, environment },
        identifiers: keys.map(({ customer_identifier }) => customer_identifier),
        periodFromNs: periodStart === "" ? undefined : BigInt(Date.parse(periodStart)) * 1_000_000n,
      }),
      stores.customers.findMany(keys),
    ]);
    const found = new Map(spend.map((one) => [one.customer_identifier, one]));
    const unpriced = new Map(profiles.map((one) => [one.customer_identifier, one.unpriced_calls]));
    return keys.map((key) => {
      const one = found.get(key.customer_identifier);
      const counted = unpriced.get(key.customer_identifier);
      const each = typeof counted === "number" ? counted : 0;
      const usd = (cost = 0, without = 0): bigint => budgetOf(cost + each * without);
      const period = usd(one?.period_cost, one?.period_unpriced);
      return { key, periodStart, period, total: usd(one?.total_cost, one?.total_unpriced) };
    });
  };

  const readAllSpend = async (rows: ReadonlyArray<{ key: CustomerKey; periodStart: string }>): Promise<SpendNoted> => {
    const noted: Array<SpendNoted[number]> = [];
    for (const [periodStart, group] of Map.groupBy(rows, (row) => row.periodStart)) {
      for (let from = 0; from < group.length; from += customersLimits.customersCompared) {
        const keys = group.slice(from, from + customersLimits.customersCompared).map(({ key }) => key);
        noted.push(...(await readSpend(keys, periodStart)));
      }
    }
    return noted;
  };

  return {
    async note(scope, identifiers) {
      const rows: Array<{ key: CustomerKey; periodStart: string }> = [];
      for (const customer_identifier of identifiers) {
        const key = { ...scope, customer_identifier };
        const state = await stores.customerLedger.find(key);
        if (state !== undefined) rows.push({ key, periodStart: state.periodStart });
      }
      return await readAllSpend(rows);
    },
    async correct(before) {
      const after = new Map((await readAllSpend(before)).map((one) => [one.key.customer_identifier, one]));
      for (const { key, periodStart, period, total } of before) {
        const now = after.get(key.customer_identifier);
        if (now === undefined) continue;
        const less = { period: period - now.period, total: total - now.total };
        await stores.transaction(async ({ customerLedger }) => {
          await customerLedger.lower(key, {
            periodStart,
            period: less.period > 0n ? less.period : 0n,
            total: less.total > 0n ? less.total : 0n,
          });
          // Additional cost counts immediately, as it would with the next comparison.
          if ((await customerLedger.find(key))?.periodStart === periodStart) {
            await customerLedger.open(key, { periodStart, period: now.period, total: now.total });
          }
        });
      }
    },
  };
}
