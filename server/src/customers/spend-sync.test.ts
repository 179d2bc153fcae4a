import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { CustomerKey } from "../domain/customer.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { StoredCustomer } from "../storage/spans/customer-queries.ts";
import { createSpendLedger, type SpendLedger } from "./ledger-queue.ts";
import { customersLimits } from "./limits.ts";
import { amountOf } from "./money.ts";
import { createSpendSync, type SpendSync } from "./spend-sync.ts";

const key: CustomerKey = { organization_id: "org", environment: "prod", customer_identifier: "one" };
const nowMs = Date.parse("2026-03-01T10:00:00.000Z");
const bounds = { periodStart: "", periodBudget: undefined, totalBudget: amountOf(100) };
const publishReached = () => Promise.resolve(() => undefined);

let stores: ControlStores;
let close: () => Promise<void>;
let ledger: SpendLedger;
/** Spans in the store: their cost, and how long ago they ended. */
let spans: Array<{ cost: number; agoMs: number }>;

beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
  const created_at = new Date(nowMs).toISOString();
  await stores.organizations.create({ unique_organization_id: "org", created_at, name: "", retention_days: null });
  spans = [];
  ledger = createSpendLedger({
    stores,
    logger: pino({ level: "silent" }),
    onSettlementFailure: () => undefined,
    onRefused: () => undefined,
    now: () => nowMs,
  });
});
afterEach(async () => {
  await ledger.stop(1_000);
  await close();
});

/** A node whose read of the spans another one precedes with `before`. */
function syncOf(before: () => Promise<void> = () => Promise.resolve()): SpendSync {
  return createSpendSync({
    ledger,
    spans: {
      describeCustomers: async ({ window }) => {
        await before();
        const untilMs = window === undefined ? nowMs : Number(window.toNs / 1_000_000n);
        const read = spans.filter(({ agoMs }) => nowMs - agoMs <= untilMs);
        const total = read.reduce((sum, { cost }) => sum + cost, 0);
        const none = { period_unpriced: 0, total_unpriced: 0 };
        return [{ customer_identifier: "one", period_cost: total, total_cost: total, ...none } as StoredCustomer];
      },
    },
    compared: () => undefined,
    logger: pino({ level: "silent" }),
    now: () => nowMs,
  });
}

const longAgoMs = customersLimits.customerSettledMs + 1;

test("a call that another node has made and not yet settled counts once", async () => {
  spans = [{ cost: 5, agoMs: longAgoMs }];
  const sync = syncOf(async () => {
    if (spans.length > 1) return;
    await syncOf().open(key, "", 0);
    const reserved = await ledger.reserve({ key, amount: amountOf(2), ...bounds, publishReached });
    expect(reserved).toMatchObject({ kind: "reserved" });
    spans.push({ cost: 2, agoMs: 0 });
    calls.push("id" in reserved ? reserved.id : "");
  });
  const calls: string[] = [];
  await sync.open(key, "", 0);
  for (const id of calls) ledger.settle({ key, id, spent: amountOf(2), budgets: bounds, publishReached });
  await expect.poll(() => ledger.find(key)).toMatchObject({ total: amountOf(7), reserved: 0n });
});

test("spending that another node missed at the start is added", async () => {
  spans = [{ cost: 5, agoMs: longAgoMs }];
  const sync = syncOf(async () => void (await ledger.begin(key, { periodStart: "", period: 0n, total: 0n })));
  await sync.open(key, "", 0);
  expect(await ledger.find(key)).toMatchObject({ total: amountOf(5) });
});
