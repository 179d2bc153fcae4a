import { describe, expect, test } from "vitest";
import type { Customer } from "../../src/domain/customer.ts";
import type { Organization } from "../../src/domain/organization.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { inTwoOrders, manyRows } from "./in-two-orders.ts";

const created_at = "2026-03-01T10:00:00.000Z";
const later = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString();

/** The part of control-store-contract.ts about customers and their spending. */
export function describeCustomerStores({
  stores,
  newOrganization,
}: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
}) {
  const newKey = async (customer_identifier = "ann", environment: "prod" | "test" = "prod") => {
    const { unique_organization_id: organization_id } = await newOrganization();
    return { organization_id, environment, customer_identifier };
  };
  const customerOf = (key: Awaited<ReturnType<typeof newKey>>, members: Partial<Customer> = {}): Customer => ({
    ...key,
    email: "zoë@example.com",
    name: "Zoë ✓",
    metadata: { "a.b": [1, null, { c: true }] },
    group_identifier: null,
    period_budget: 0.1,
    budget_duration: "monthly",
    period_start: created_at,
    period_end: null,
    unpriced_calls: 0.02,
    total_budget: 1e12,
    markup_percentage: 12.5,
    rate_limit: 7,
    sent: { name: "Zoë ✓", period_budget: 0.1 },
    first_seen: created_at,
    created_at,
    updated_at: created_at,
    ...members,
  });

  describe("customers", () => {
    test("are stored unchanged, and created once", async () => {
      const key = await newKey();
      const ann = customerOf(key);
      await stores().customers.create([ann, customerOf({ ...key, environment: "test" })]);
      await stores().customers.create([customerOf(key, { name: "Second" })]);
      expect(await stores().customers.find(key)).toEqual(ann);
      expect(await stores().customers.find({ ...key, organization_id: "org_other" })).toBeUndefined();
    });

    test("that two nodes see first, in different orders, are created once", async () => {
      const { organization_id } = await newKey();
      expect(
        await inTwoOrders(
          (round) =>
            Array.from({ length: manyRows }, (_, n) =>
              customerOf({ organization_id, environment: "prod", customer_identifier: `${round} ${n}` }),
            ),
          (customers) => stores().transaction((set) => set.customers.create(customers)),
        ),
      ).toEqual([]);
    });

    test("with a markup are listed, of one organization, up to the requested number", async () => {
      const key = await newKey();
      const bob = { ...key, environment: "test" as const, customer_identifier: "bob" };
      const none = { ...key, customer_identifier: "none" };
      await stores().customers.create([customerOf(key), customerOf(bob), customerOf(none, { markup_percentage: 0 })]);
      await stores().customers.create([customerOf(await newKey())]);
      const { organization_id } = key;
      const markups = await stores().customers.listMarkups(organization_id, 10);
      expect(new Set(markups.map((row) => JSON.stringify(row)))).toEqual(
        new Set(
          [key, bob].map(({ environment, customer_identifier }) =>
            JSON.stringify({ environment, customer_identifier, markup_percentage: 12.5 }),
          ),
        ),
      );
      expect(await stores().customers.listMarkups(organization_id, 1)).toHaveLength(1);
    });

    test("with a budget or a rate limit are listed with their spending, up to the requested number", async () => {
      const key = await newKey();
      const named = (customer_identifier: string) => ({ ...key, customer_identifier });
      const unbounded = { period_budget: null, total_budget: null, rate_limit: null };
      const bounds = { period: { period_budget: 1 }, total: { total_budget: 1 }, rate: { rate_limit: 1 }, none: {} };
      await stores().customers.create(
        Object.entries(bounds).map(([name, bound]) => customerOf(named(name), { ...unbounded, ...bound })),
      );
      await stores().customerLedger.open(named("total"), { periodStart: "", period: 2n, total: 3n });
      const own = (await stores().customers.listBounded(100_000)).filter(
        ({ customer }) => customer.organization_id === key.organization_id,
      );
      expect(new Map(own.map(({ customer, spend }) => [customer.customer_identifier, spend]))).toEqual(
        new Map([
          ["period", undefined],
          ["total", { periodStart: "", period: 2n, total: 3n, reserved: 0n }],
          ["rate", undefined],
        ]),
      );
      expect(await stores().customers.listBounded(2)).toHaveLength(2);
    });

    test("are created and found by the thousand", async () => {
      const key = await newKey();
      const keys = Array.from({ length: 1_000 }, (_, index) => ({ ...key, customer_identifier: `c${index}` }));
      await stores().customers.create(keys.map((each) => customerOf(each)));
      expect(await stores().customers.findMany([...keys, { ...key, customer_identifier: "nobody" }])).toHaveLength(
        1_000,
      );
    });

    test("are replaced by one writer only, if the version that it read is current", async () => {
      const key = await newKey();
      await stores().customers.create([customerOf(key)]);
      const names = ["one", "two", "three"];
      const results = await Promise.all(
        names.map((name, index) =>
          stores().customers.replace(customerOf(key, { name, updated_at: later(index + 1) }), created_at),
        ),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
      expect(names).toContain((await stores().customers.find(key))?.name);
      expect(await stores().customers.replace(customerOf({ ...key, customer_identifier: "nobody" }), created_at)).toBe(
        false,
      );
    });

    test("get an earlier first_seen, many at a time, unless they changed in the meantime", async () => {
      const key = await newKey();
      const keyOf = (customer_identifier: string) => ({ ...key, customer_identifier });
      const names = Array.from({ length: 600 }, (_, index) => `c${index}`);
      const [early, changed] = [keyOf("seen before"), keyOf("changed since")];
      await stores().customers.create([
        ...names.map((name) => customerOf(keyOf(name))),
        customerOf(early, { first_seen: later(-9) }),
        customerOf(changed, { updated_at: later(5) }),
        customerOf({ ...keyOf("c1"), environment: "test" }),
      ]);
      await stores().customers.markIndexed(await stores().customers.findMany(names.map(keyOf)));
      const sightings = [...names.map(keyOf), early, changed, keyOf("nobody")];
      const moved = await stores().customers.moveFirstSeen(
        sightings.map((each) => ({ key: each, firstSeen: later(-5) })),
        later(5),
      );
      expect(moved).toHaveLength(600);
      expect(moved).toEqual(expect.arrayContaining([keyOf("c0"), keyOf("c599")]));
      const found = await stores().customers.findMany(sightings);
      expect(
        found.filter(({ first_seen, updated_at }) => first_seen === later(-5) && updated_at === later(5)),
      ).toHaveLength(600);
      expect(await stores().customers.find(keyOf("c7"))).toEqual(
        customerOf(keyOf("c7"), { first_seen: later(-5), updated_at: later(5) }),
      );
      expect(await stores().customers.find(early)).toMatchObject({ first_seen: later(-9), updated_at: created_at });
      expect(await stores().customers.find(changed)).toMatchObject({ first_seen: created_at });
      expect(await stores().customers.find({ ...keyOf("c1"), environment: "test" })).toMatchObject({
        first_seen: created_at,
      });
      const waiting = await stores().customers.listToIndex(10_000);
      expect(waiting.filter((each) => each.organization_id === key.organization_id)).toHaveLength(603);
    });

    test("wait to be copied until their current version is copied", async () => {
      const key = await newKey();
      const waiting = async () =>
        (await stores().customers.listToIndex(10_000)).filter((each) => each.organization_id === key.organization_id);
      const ann = customerOf(key);
      await stores().customers.create([ann]);
      await stores().customers.replace({ ...ann, name: "New", updated_at: later(1) }, created_at);
      await stores().customers.markIndexed([ann]);
      expect(await waiting()).toMatchObject([{ name: "New" }]);
      await stores().customers.markIndexed(await waiting());
      expect(await waiting()).toEqual([]);
    });

    test("are removed without affecting other customers", async () => {
      const key = await newKey();
      const other = { ...key, customer_identifier: "bob" };
      await stores().customers.create([customerOf(key), customerOf(other)]);
      const removed = [await stores().customers.remove(key), await stores().customers.remove(key)];
      expect(removed).toEqual([customerOf(key).updated_at, undefined]);
      expect(await stores().customers.find(other)).toBeDefined();
    });
  });

  describe("the ledger", () => {
    const period = { periodStart: "2026-03-01", periodBudget: 100n, totalBudget: 150n };
    const reservation = (
      key: Awaited<ReturnType<typeof newKey>>,
      id: string,
      amount: bigint,
      expiresAt = later(1),
    ) => ({
      ...period,
      key,
      id: `${key.organization_id} ${id}`,
      nodeId: key.organization_id,
      expiresAt,
      amount,
    });

    test("admits calls that fit both budgets, and none once a budget is used up", async () => {
      const key = await newKey();
      const ledger = stores().customerLedger;
      expect(await ledger.reserve(reservation(key, "a", 1n))).toBeUndefined();
      await ledger.open(key, { periodStart: period.periodStart, period: 0n, total: 60n });
      expect(await ledger.reserve(reservation(key, "b", 91n))).toBeUndefined();
      expect(await ledger.reserve(reservation(key, "c", 90n))).toEqual({
        periodStart: period.periodStart,
        period: 0n,
        total: 60n,
        reserved: 90n,
      });
      expect(await ledger.reserve(reservation(key, "d", 0n))).toBeUndefined();
      const elsewhere = { ...reservation(key, "e", 0n), periodStart: "2026-04-01" };
      expect(await ledger.reserve(elsewhere)).toBeUndefined();
    });

    test("adds amounts beyond the range of a double", async () => {
      const key = await newKey();
      const large = 9_007_199_254_740_993n;
      await stores().customerLedger.open(key, { periodStart: "", period: large, total: large });
      const unbounded = { periodStart: "", periodBudget: undefined, totalBudget: undefined };
      const call = { ...reservation(key, "a", 1n), ...unbounded };
      await stores().customerLedger.reserve(call);
      await stores().customerLedger.settle(key, { id: call.id, spent: 2n });
      expect(await stores().customerLedger.find(key)).toMatchObject({ period: large + 2n, total: large + 2n });
      await stores().customerLedger.lower(key, { periodStart: "", period: 2n, total: 3n });
      expect(await stores().customerLedger.find(key)).toMatchObject({ period: large, total: large - 1n });
      // For another period only the total is lowered, and never below 0.
      await stores().customerLedger.lower(key, { periodStart: "2026", period: 1n, total: 2n * large });
      expect(await stores().customerLedger.find(key)).toMatchObject({ period: large, total: 0n });
    });

    test("opens a new period, and never lowers known spending of the same period", async () => {
      const key = await newKey();
      const ledger = stores().customerLedger;
      await ledger.open(key, { periodStart: "a", period: 5n, total: 9n });
      await ledger.open(key, { periodStart: "a", period: 3n, total: 12n });
      expect(await ledger.find(key)).toMatchObject({ periodStart: "a", period: 5n, total: 12n });
      await ledger.open(key, { periodStart: "b", period: 1n, total: 1n });
      expect(await ledger.find(key)).toMatchObject({ periodStart: "b", period: 1n, total: 12n });
      expect(await ledger.begin(key, { periodStart: "b", period: 9n, total: 99n })).toBe(false);
      expect(await ledger.find(key)).toMatchObject({ periodStart: "b", period: 1n, total: 12n });
      expect(await ledger.begin(key, { periodStart: "c", period: 2n, total: 3n })).toBe(true);
      expect(await ledger.find(key)).toMatchObject({ periodStart: "c", period: 2n, total: 12n });
      expect(await ledger.begin(await newKey(), { periodStart: "", period: 0n, total: 0n })).toBe(true);
    });

    test("releases expired reservations of every node that does not renew", async () => {
      const [dead, alive] = [await newKey(), await newKey()];
      const ledger = stores().customerLedger;
      for (const key of [dead, alive]) {
        await ledger.open(key, { periodStart: period.periodStart, period: 0n, total: 0n });
        await ledger.reserve(reservation(key, "a", 10n));
        await ledger.reserve(reservation(key, "b", 5n));
      }
      await ledger.renew(alive.organization_id, later(100));
      expect(await ledger.releaseExpired(later(50), alive)).toBe(0);
      expect(await ledger.releaseExpired(later(50))).toBeGreaterThanOrEqual(2);
      expect(await ledger.find(dead)).toMatchObject({ reserved: 0n });
      expect(await ledger.find(alive)).toMatchObject({ reserved: 15n });
      expect(await ledger.settle(alive, { id: `${alive.organization_id} a`, spent: 4n })).toMatchObject({
        reserved: 5n,
        period: 4n,
      });
      expect(await ledger.settle(dead, { id: `${dead.organization_id} a`, spent: 4n })).toMatchObject({
        reserved: 0n,
        total: 4n,
      });
    });

    test("reports a budget once, and removes a customer completely", async () => {
      const key = await newKey();
      const ledger = stores().customerLedger;
      await ledger.open(key, { periodStart: "a", period: 0n, total: 0n });
      const period = (periodStart: string, budget: bigint) => ({ kind: "period", periodStart, budget }) as const;
      const total = (budget: bigint) => ({ kind: "total", budget }) as const;
      const marks = [
        period("a", 5n),
        period("a", 5n),
        period("a", 7n),
        period("b", 7n),
        total(9n),
        total(9n),
        total(10n),
      ];
      const marked: boolean[] = [];
      for (const mark of marks) marked.push(await ledger.markReached(key, mark));
      expect(marked).toEqual([true, false, true, true, true, false, true]);
      await ledger.reserve(reservation(key, "a", 1n));
      await ledger.delete(key);
      expect(await ledger.find(key)).toBeUndefined();
      expect(await ledger.releaseExpired(later(100), key)).toBe(0);
    });
  });

  describe("deleted customers", () => {
    test("are listed by page and time, with the last deletion of each, and lose their names later", async () => {
      const { organization_id, environment } = await newKey();
      const erasureOf = (n: number, ms: number) => ({
        organization_id,
        environment,
        customer_identifier: `customer ${n}`,
        fingerprint: `fingerprint ${String(n).padStart(5, "0")}`,
        erasedAtMs: Date.parse(later(ms)),
      });
      const all = Array.from({ length: 1_002 }, (_, n) => erasureOf(n, n >> 1));
      for (const erasure of all) await stores().customerErasures.add(erasure);
      const list = async () => {
        const found = [];
        for (let page = await stores().customerErasures.list(created_at); ;) {
          found.push(...page.erasures.filter((erasure) => erasure.organization_id === organization_id));
          if (page.next === undefined) return found;
          page = await stores().customerErasures.list(created_at, page.next);
        }
      };
      expect(await list()).toEqual(all);
      const again = erasureOf(0, 9_000);
      await stores().customerErasures.add(again);
      expect(await list()).toEqual([...all.slice(1), again]);
      await stores().customerErasures.deleteNames(later(9_000));
      expect((await list()).map(({ customer_identifier }) => customer_identifier).filter(Boolean)).toEqual([
        "customer 0",
      ]);
    });
  });
}
