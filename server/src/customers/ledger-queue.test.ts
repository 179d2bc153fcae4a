import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { CustomerKey } from "../domain/customer.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { CustomerLedger } from "../storage/control/customer-ledger.ts";
import { createSpendLedger } from "./ledger-queue.ts";

let stores: ControlStores;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
  for (const unique_organization_id of ["hog", "guest"]) {
    const created_at = "2026-03-01T00:00:00.000Z";
    await stores.organizations.create({ unique_organization_id, created_at, name: "", retention_days: null });
  }
});
afterEach(() => close());

test("an organization that fills the ledger's queue does not block others", async () => {
  let refused = 0;
  const maxQueued = 300;
  const busy = Promise.withResolvers<void>();
  const ledger = createSpendLedger({
    stores: {
      customerLedger: stores.customerLedger,
      // The control store is slow.
      transaction: async (work) => {
        await busy.promise;
        return await stores.transaction(work);
      },
    },
    logger: pino({ level: "silent" }),
    onSettlementFailure: () => undefined,
    onRefused: () => (refused += 1),
    maxQueued,
    now: Date.now,
  });
  const reserve = (organization_id: string) => {
    const key: CustomerKey = { organization_id, environment: "prod", customer_identifier: "one" };
    const publishReached = () => Promise.resolve(() => undefined);
    return ledger.reserve({
      key,
      amount: 1n,
      periodStart: "",
      periodBudget: 5n,
      totalBudget: undefined,
      publishReached,
    });
  };
  // Sent to the store, whose next batch waits.
  const first = reserve("hog");
  await new Promise(setImmediate);
  const hog = Promise.allSettled(Array.from({ length: maxQueued }, () => reserve("hog")));
  expect(refused).toBeGreaterThan(maxQueued / 8);
  await expect(reserve("hog")).rejects.toMatchObject({ code: "unavailable" });

  const before = refused;
  const guests = Array.from({ length: 40 }, () => reserve("guest"));
  expect(refused).toBe(before);
  busy.resolve();
  await first;
  for (const outcome of await Promise.all(guests)) expect(outcome).toEqual({ kind: "unopened" });
  expect((await hog).filter(({ status }) => status === "rejected")).toHaveLength(before - 1);
  await ledger.stop(1_000);
});

test("a call reserves no more than it needs when another node changes the customer's row at the same time", async () => {
  const key: CustomerKey = { organization_id: "guest", environment: "prod", customer_identifier: "one" };
  const opening = { periodStart: "", period: 0n, total: 0n };
  let others: Array<(ledger: CustomerLedger) => Promise<unknown>> = [];
  const ledger = createSpendLedger({
    stores: {
      customerLedger: stores.customerLedger,
      transaction: (work) =>
        stores.transaction((set) => {
          const { customerLedger } = set;
          const reserve: CustomerLedger["reserve"] = async (request) => {
            const state = await customerLedger.reserve(request);
            // Another node commits between two statements of this one.
            await others.shift()?.(customerLedger);
            return state;
          };
          return work({ ...set, customerLedger: { ...customerLedger, reserve } });
        }),
    },
    logger: pino({ level: "silent" }),
    onSettlementFailure: () => undefined,
    onRefused: () => undefined,
    now: Date.now,
  });
  const reserve = () =>
    ledger.reserve({
      key,
      amount: 4n,
      periodStart: "",
      periodBudget: 10n,
      totalBudget: undefined,
      publishReached: () => Promise.resolve(() => undefined),
    });

  others = [(elsewhere) => elsewhere.open(key, opening)];
  const first = await reserve();
  expect(first).toMatchObject({ kind: "reserved", amount: 4n });
  const second = await reserve();
  expect(second).toMatchObject({ kind: "reserved", amount: 4n });
  const ids = [first, second].map((outcome) => ("id" in outcome ? outcome.id : ""));
  others = [async (elsewhere) => void (await Promise.all(ids.map((id) => elsewhere.settle(key, { id, spent: 0n }))))];
  expect(await reserve()).toMatchObject({ kind: "reserved", amount: 4n });
  await ledger.stop(1_000);
});

test("a change that the store refuses fails no other change of the same transaction", async () => {
  const ledger = createSpendLedger({
    stores,
    logger: pino({ level: "silent" }),
    onSettlementFailure: () => undefined,
    onRefused: () => undefined,
    now: Date.now,
  });
  const keyOf = (customer_identifier: string): CustomerKey => ({
    organization_id: "guest",
    environment: "prod",
    customer_identifier,
  });
  const bounds = { periodStart: "", periodBudget: undefined, totalBudget: 5n };
  const reserve = (customer: string, publishReached: () => Promise<() => void>) =>
    ledger.reserve({ key: keyOf(customer), amount: 5n, ...bounds, publishReached });
  const fine = () => Promise.resolve(() => undefined);
  for (const name of ["one", "spent", "two"]) {
    const total = name === "spent" ? 5n : 0n;
    await ledger.open(keyOf(name), { periodStart: "", period: 0n, total });
  }
  const outcomes = await Promise.allSettled([
    reserve("one", fine),
    reserve("spent", () => Promise.reject(new Error("no such webhook"))),
    reserve("two", fine),
  ]);
  expect(outcomes.map((each) => (each.status === "fulfilled" ? each.value.kind : each.reason.code))).toEqual([
    "reserved",
    "unavailable",
    "reserved",
  ]);
  await ledger.stop(1_000);
});
