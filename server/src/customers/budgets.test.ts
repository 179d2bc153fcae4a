import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { controlUp } from "../../test/support/control-up.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../../test/support/postgres.ts";
import { createControlStores, type ControlStores } from "../storage/control/control-stores.ts";
import {
  openControlDatabase,
  type ControlDatabase,
  type ControlLocation,
} from "../storage/control/open-control-database.ts";
import type { DescribeCustomersQuery, StoredCustomer } from "../storage/spans/customer-queries.ts";
import { createBudgets, type Admission, type BudgetReached, type Budgets } from "./budgets.ts";
import { createCallRates } from "./call-rates.ts";
import { createSpendLedger, type SpendLedger } from "./ledger-queue.ts";
import { createCustomerProfiles, type CustomerProfiles } from "./profiles.ts";
import { createSpendSync, type SpendSync } from "./spend-sync.ts";

type Place = { location: ControlLocation; remove: () => Promise<void> };

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "spanway-budgets-"));
  return {
    location: { kind: "sqlite", path: join(folder, "control.db") },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function postgresPlace(): Promise<Place> {
  const { url, drop } = await createPostgresDatabase();
  return { location: { kind: "postgres", url }, remove: drop };
}

describe("budgets on SQLite", () => {
  describeBudgets(sqlitePlace);
});
describe.skipIf(postgresUrl === undefined)(`budgets on Postgres${postgresSkipReason}`, () => {
  describeBudgets(postgresPlace);
});

/** Only the cost of spans matters here. */
function saidBySpans(
  customer_identifier: string,
  cost: { period: number; total: number } | undefined,
): StoredCustomer[] {
  if (cost === undefined) return [];
  const sums = { period_cost: cost.period, total_cost: cost.total, period_unpriced: 0, total_unpriced: 0 };
  return [{ customer_identifier, ...sums } as StoredCustomer];
}

/** One node, with its own connections and memory. */
type Node = {
  budgets: Budgets;
  /** How many of the next notifications fail. */
  failures: { left: number };
  profiles: CustomerProfiles;
  ledger: SpendLedger;
  sync: SpendSync;
  stores: ControlStores;
  reached: BudgetReached[];
  stop: () => Promise<void>;
};

const organizations = ["org_a", "org_b"];
const logger = pino({ level: "silent" });

function describeBudgets(newPlace: () => Promise<Place>) {
  let place: Place;
  let database: ControlDatabase;
  /** The clock of every node. */
  let nowMs = Date.parse("2026-03-10T12:00:00Z");
  /** The cost of spans, by customer. */
  const spans = new Map<string, { period: number; total: number }>();
  const nodes: Node[] = [];

  const newNode = (): Node => {
    const own = openControlDatabase(place.location);
    const stores = createControlStores(own);
    const now = () => nowMs;
    const control = controlUp();
    const ledger = createSpendLedger({
      stores,
      logger,
      onSettlementFailure: () => undefined,
      onRefused: () => undefined,
      now,
    });
    const describeCustomers = async ({ identifiers }: DescribeCustomersQuery) =>
      identifiers.flatMap((name) => saidBySpans(name, spans.get(name)));
    const sync = createSpendSync({ ledger, spans: { describeCustomers }, compared: () => undefined, logger, now });
    const profiles = createCustomerProfiles({ customers: stores.customers, control, changed: () => undefined, now });
    const reached: BudgetReached[] = [];
    const failures = { left: 0 };
    const budgets = createBudgets({
      profiles,
      control,
      ledger,
      recall: (key, call) => ledger.recall(key, call),
      sync,
      rates: createCallRates({ onStoreFailure: () => undefined }),
      auditLimits: async () => undefined,
      onRefused: () => undefined,
      publishReached: (_set, events) => {
        failures.left -= 1;
        if (failures.left >= 0) return Promise.reject(new Error("the queue takes none"));
        return Promise.resolve(() => void reached.push(...events));
      },
      now,
    });
    const stop = async () => {
      await ledger.stop(1_000);
      await own.close();
    };
    const node = { budgets, failures, profiles, ledger, sync, stores, reached, stop };
    nodes.push(node);
    return node;
  };

  beforeAll(async () => {
    place = await newPlace();
    database = openControlDatabase(place.location);
    await database.migrate();
    const stores = createControlStores(database);
    for (const id of organizations) {
      const created_at = new Date(nowMs).toISOString();
      await stores.organizations.create({ unique_organization_id: id, name: id, retention_days: null, created_at });
    }
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop();
  });
  afterAll(async () => {
    await database.close();
    await place.remove();
  });

  let customers = 0;
  const newCustomer = () => `customer-${(customers += 1)}`;
  const call = (customerIdentifier: string, estimateUsd: number | null, customerParams?: unknown, org = "org_a") => ({
    organizationId: org,
    environment: "prod" as const,
    customerIdentifier,
    customerParams,
    estimateUsd,
  });
  const keyOf = (customer_identifier: string) =>
    ({ organization_id: "org_a", environment: "prod", customer_identifier }) as const;
  const allowed = (admissions: readonly Admission[]) => admissions.filter(({ isAllowed }) => isAllowed);
  const settleAll = (admissions: readonly Admission[], costUsd: number | null) => {
    for (const admission of admissions) if (admission.isAllowed) admission.settle(() => costUsd);
  };
  /** Waits for settlements that happen after the caller's request. */
  const expectSpent = async (node: Node, customer: string, usd: number) => {
    await expect
      .poll(async () => (await node.ledger.find(keyOf(customer)))?.total, { timeout: 3_000, interval: 5 })
      .toBe(BigInt(Math.round(usd * 1e9)));
  };

  test("twenty concurrent first calls spend no more than the budget", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const params = { total_budget: 0.01 };
    const admissions = await Promise.all(
      Array.from({ length: 20 }, async () => node.budgets.admit(call(customer, 0.004, params))),
    );
    expect(allowed(admissions)).toHaveLength(2);
    const blocked = admissions.find(({ isAllowed }) => !isAllowed);
    expect(blocked).toMatchObject({ code: "budget_exceeded", message: expect.stringContaining("total budget") });
    expect(blocked?.limitInfo).toMatchObject({
      is_allowed: false,
      reason: "total_budget",
      total_budget: 0.01,
      total_usage: 0,
      reserved: 0.008,
      estimate: 0.004,
    });
    settleAll(admissions, 0.004);
    await expectSpent(node, customer, 0.008);
    // The rest can be spent by one call that fits, and by no other meanwhile.
    expect((await node.budgets.admit(call(customer, 0.002))).isAllowed).toBe(true);
    expect((await node.budgets.admit(call(customer, 0.001))).isAllowed).toBe(false);
  });

  test("concurrent calls on two nodes spend no more than the budget", async () => {
    const [one, other, customer] = [newNode(), newNode(), newCustomer()];
    const params = { period_budget: 0.01, budget_duration: "daily" };
    const admissions = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? one : other).budgets.admit(call(customer, 0.004, params)),
      ),
    );
    expect(allowed(admissions)).toHaveLength(2);
  });

  test("many concurrent customers on two nodes do not deadlock", async () => {
    const [one, other] = [newNode(), newNode()];
    const names = Array.from({ length: 8 }, newCustomer);
    const admissions = await Promise.all(
      Array.from({ length: 96 }, async (_, index) =>
        [one, other][index % 2]!.budgets.admit(call(names[(index * 5) % 8]!, 0.1, { total_budget: 1 })),
      ),
    );
    expect(allowed(admissions)).toHaveLength(80);
    settleAll(admissions, 0.05);
    for (const name of names) await expectSpent(one, name, 0.5);
  });

  test("the unused part of a reservation is released, and settling twice counts once", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const first = await node.budgets.admit(call(customer, 0.9, { total_budget: 1 }));
    expect((await node.budgets.admit(call(customer, 0.2))).isAllowed).toBe(false);
    settleAll([first, first], 0.1);
    await expectSpent(node, customer, 0.1);
    expect((await node.budgets.admit(call(customer, 0.9))).isAllowed).toBe(true);
  });

  test("if the cost is unknown, the reservation counts", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    settleAll([await node.budgets.admit(call(customer, 0.3, { total_budget: 1 }))], null);
    await expectSpent(node, customer, 0.3);
  });

  test("a call without an estimate passes until the budget is used up", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const first = await node.budgets.admit(call(customer, null, { total_budget: 1 }));
    settleAll([first], 1.5);
    await expectSpent(node, customer, 1.5);
    expect((await node.budgets.admit(call(customer, null))).limitInfo).toMatchObject({
      is_allowed: false,
      total_usage: 1.5,
    });
  });

  test("the reservations of a dead node are released, those of a live node are not", async () => {
    const [dead, alive, customer] = [newNode(), newNode(), newCustomer()];
    expect((await dead.budgets.admit(call(customer, 0.6, { total_budget: 1 }))).isAllowed).toBe(true);
    const long = await alive.budgets.admit(call(customer, 0.3));
    expect((await alive.budgets.admit(call(customer, 0.6))).isAllowed).toBe(false);
    nowMs += 20_000;
    await alive.ledger.renew();
    expect((await alive.budgets.admit(call(customer, 0.6))).isAllowed).toBe(false);
    nowMs += 20_000;
    const next = await alive.budgets.admit(call(customer, 0.6));
    expect(next.limitInfo).toMatchObject({ is_allowed: true, reserved: 0.9 });
    settleAll([long, next], 0.1);
    await expectSpent(alive, customer, 0.2);
  });

  test("a reservation that was released too early is still counted when it settles", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const slow = await node.budgets.admit(call(customer, 0.6, { total_budget: 1 }));
    nowMs += 60_000;
    const next = await node.budgets.admit(call(customer, 0.6));
    settleAll([slow, next], 0.5);
    await expectSpent(node, customer, 1);
    expect(await node.ledger.find(keyOf(customer))).toMatchObject({ reserved: 0n });
  });

  test("a period budget renews, a total budget does not", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const params = { period_budget: 1, budget_duration: "daily", total_budget: 3 };
    settleAll([await node.budgets.admit(call(customer, 1, params))], 1);
    await expectSpent(node, customer, 1);
    const blocked = await node.budgets.admit(call(customer, 0.5));
    expect(blocked.limitInfo).toMatchObject({ reason: "period_budget", period_usage: 1, period_budget: 1 });
    nowMs += 86_400_000;
    for (const total of [2, 3]) {
      spans.set(customer, { period: 0, total: 1 });
      const renewed = await node.budgets.admit(call(customer, 1));
      expect(renewed.limitInfo).toMatchObject({ is_allowed: true, period_usage: 0, total_usage: total - 1 });
      settleAll([renewed], 1);
      await expectSpent(node, customer, total);
      nowMs += 86_400_000;
    }
    expect((await node.budgets.admit(call(customer, 0.1))).limitInfo).toMatchObject({ reason: "total_budget" });
  });

  test("spending elsewhere counts: before the first call immediately, later after a while", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    spans.set(customer, { period: 0.4, total: 5 });
    const first = await node.budgets.admit(call(customer, 0.1, { period_budget: 1, total_budget: 10 }));
    expect(first.limitInfo).toMatchObject({ period_usage: 0.4, total_usage: 5 });
    spans.set(customer, { period: 1.2, total: 5.8 });
    await node.sync.compare(new AbortController().signal);
    await expectSpent(node, customer, 5.8);
    expect((await node.budgets.admit(call(customer, 0.1))).limitInfo).toMatchObject({ reason: "period_budget" });
  });

  test("calls that repeat old customer_params do not overwrite an edit; changed params do", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const params = { total_budget: 100, name: "Zoë" };
    await node.budgets.admit(call(customer, 0.1, params));
    await node.profiles.edit(keyOf(customer), { total_budget: 0 });
    expect((await node.budgets.admit(call(customer, 0.1, params))).isAllowed).toBe(false);
    const raised = await node.budgets.admit(call(customer, 0.1, { ...params, total_budget: 200 }));
    expect(raised.limitInfo).toMatchObject({ is_allowed: true, total_budget: 200 });
    expect(await node.profiles.find(keyOf(customer))).toMatchObject({ name: "Zoë", total_budget: 200 });
  });

  test("an edit on another node takes effect within seconds", async () => {
    const [one, other, customer] = [newNode(), newNode(), newCustomer()];
    await one.profiles.create(keyOf(customer));
    expect((await one.budgets.admit(call(customer, 1))).isAllowed).toBe(true);
    await other.profiles.edit(keyOf(customer), { total_budget: 0 });
    expect((await other.budgets.admit(call(customer, 1))).isAllowed).toBe(false);
    nowMs += 5_001;
    expect((await one.budgets.admit(call(customer, 1))).isAllowed).toBe(false);
  });

  test("a reached budget sends one event per period", async () => {
    const [one, other, customer] = [newNode(), newNode(), newCustomer()];
    const params = { period_budget: 1, budget_duration: "daily" };
    settleAll([await one.budgets.admit(call(customer, 1, params))], 1);
    await expectSpent(one, customer, 1);
    for (const node of [one, other, one]) await node.budgets.admit(call(customer, 1));
    const reached = () =>
      [...one.reached, ...other.reached].map(({ budget, customer: { name }, limitInfo }) => [
        budget,
        name,
        limitInfo.period_budget,
      ]);
    expect(reached()).toEqual([["period", null, 1]]);
    nowMs += 86_400_000;
    settleAll([await one.budgets.admit(call(customer, 1))], 1);
    await expect.poll(reached, { timeout: 3_000 }).toHaveLength(2);
  });

  test("a raised budget that is reached again sends another event, a lowered one does not", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    settleAll([await node.budgets.admit(call(customer, 1, { total_budget: 1 }))], 1);
    await expectSpent(node, customer, 1);
    for (const total_budget of [2, 1.5]) {
      await node.profiles.edit(keyOf(customer), { total_budget });
      const last = await node.budgets.admit(call(customer, 2));
      settleAll([last], 1.25);
      await expectSpent(node, customer, 2.25);
    }
    const reached = node.reached.map(({ limitInfo }) => [limitInfo.total_budget, limitInfo.total_usage]);
    expect(reached).toEqual([
      [1, 1],
      [2, 2.25],
    ]);
  });

  test("calls that are free or too large do not reach a budget; the event comes with the spending, with its figures", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const failing = await Promise.all(
      Array.from({ length: 10 }, async () => node.budgets.admit(call(customer, 0.4, { total_budget: 1 }))),
    );
    settleAll(failing, 0);
    await expectSpent(node, customer, 0);
    settleAll([await node.budgets.admit(call(customer, 1_000))], 0);
    await expectSpent(node, customer, 0);
    expect(node.reached).toEqual([]);
    settleAll(await Promise.all([0.4, 0.4].map(async (usd) => node.budgets.admit(call(customer, usd)))), 0.5);
    await expectSpent(node, customer, 1);
    await expect.poll(() => node.reached, { timeout: 3_000 }).toHaveLength(1);
    expect(node.reached[0]?.limitInfo).toMatchObject({ total_usage: 1, reserved: 0 });
  });

  test("spans logged elsewhere use up a budget as well; the next call detects it and sends the event", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    spans.set(customer, { period: 0, total: 3 });
    await node.budgets.admit(call(customer, 0.1, { total_budget: 3 }));
    expect(node.reached.map(({ limitInfo }) => limitInfo.total_usage)).toEqual([3]);
  });

  test("a call that may cost more than is left runs alone and takes all of it, on any node", async () => {
    const [one, other, customer] = [newNode(), newNode(), newCustomer()];
    const params = { total_budget: 1, period_budget: 0.6, budget_duration: "daily" };
    for (let round = 1; round <= 3; round += 1) {
      const admissions = await Promise.all(
        Array.from({ length: 12 }, async (_, index) =>
          [one, other][index % 2]!.budgets.admit(call(customer, 5, params)),
        ),
      );
      expect(allowed(admissions)).toHaveLength(1);
      settleAll(admissions, 0.15);
      await expectSpent(one, customer, round * 0.15);
    }
    // Only the last of them may cost more than is left.
    settleAll([await one.budgets.admit(call(customer, 5))], 5);
    await expectSpent(one, customer, 5.45);
    expect((await other.budgets.admit(call(customer, 0))).isAllowed).toBe(false);
  });

  test("a budget is not marked as reached without its event", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    // A transaction is tried twice.
    node.failures.left = 2;
    spans.set(customer, { period: 0, total: 0.5 });
    await expect(node.budgets.admit(call(customer, 1, { total_budget: 0.5 }))).rejects.toMatchObject({
      code: "unavailable",
    });
    expect((await node.budgets.admit(call(customer, 1))).isAllowed).toBe(false);
    expect(node.reached).toHaveLength(1);
  });

  test("organizations and environments are separate", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    await node.budgets.admit(call(customer, 1, { total_budget: 0 }));
    expect((await node.budgets.admit(call(customer, 1))).isAllowed).toBe(false);
    expect((await node.budgets.admit(call(customer, 1, undefined, "org_b"))).isAllowed).toBe(true);
    expect((await node.budgets.admit({ ...call(customer, 1), environment: "test" })).isAllowed).toBe(true);
  });

  test("requests a minute", async () => {
    const [node, customer] = [newNode(), newCustomer()];
    const params = { rate_limit: 2 };
    const admissions = [];
    for (let index = 0; index < 3; index += 1) admissions.push(await node.budgets.admit(call(customer, 1, params)));
    expect(admissions.map(({ isAllowed }) => isAllowed)).toEqual([true, true, false]);
    expect(admissions[2]).toMatchObject({ code: "rate_limited", limitInfo: { reason: "rate_limit", rate_limit: 2 } });
    expect((admissions[2] as { retryAfterS: number }).retryAfterS).toBeGreaterThan(0);
  });

  test("invalid customer_params are refused with the name of the field", async () => {
    const node = newNode();
    await expect(node.budgets.admit(call(newCustomer(), 1, { period_budget: "a lot" }))).rejects.toMatchObject({
      code: "invalid_request",
      errors: { "customer_params.period_budget": [expect.stringContaining("number")] },
    });
  });

  test("calls without a customer, or of one without limits, always pass", async () => {
    const node = newNode();
    const nobody = { organizationId: "org_a", environment: "prod", customerIdentifier: undefined } as const;
    const admission = await node.budgets.admit({ ...nobody, estimateUsd: 1 });
    expect(admission.limitInfo).toMatchObject({ is_allowed: true, total_budget: null, estimate: 1 });
    settleAll([admission], 1);
    const customer = newCustomer();
    expect((await node.budgets.admit(call(customer, 1))).isAllowed).toBe(true);
    await sleep(20);
    expect(await node.ledger.find(keyOf(customer))).toBeUndefined();
  });
}
