import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  day,
  listCustomers,
  namesOf,
  organizationsOf,
  pathOf,
  retrieveCustomer,
  spanOf,
  storeCustomers,
} from "../support/customers.ts";
import { always, bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, TestClient } from "../support/test-client.ts";

/** The list of customers: interface §4.5. Each test has its own organization. */

let app: TestApp;
let newOrganization: Awaited<ReturnType<typeof organizationsOf>>;
beforeAll(async () => {
  app = await startTestApp();
  newOrganization = await organizationsOf(app);
});
afterAll(() => app.stop());

let prod: TestClient;
let testKey: TestClient;
let organizationId: string;
beforeEach(async () => {
  ({ prod, testKey, organizationId } = await newOrganization());
});

describe("the list", () => {
  const three = () => [
    spanOf("ann", { customer_name: "Zoë", customer_email: "ann@example.com", timestamp: day(-3) }),
    spanOf("ann", { timestamp: day(-2), cost: 0.25, cache_hit: true, time_to_first_token: 1 }),
    spanOf("bob", { customer_name: "Bob", timestamp: day(-5), cost: 2, prompt_tokens: 95 }),
    spanOf("cat", { timestamp: day(-1), cost: null, model: "a model without a price" }),
  ];

  test("has a row for each customer, most recently seen first", async () => {
    await storeCustomers(prod, three());
    const { count, next, previous, results } = await listCustomers(prod);
    expect({ count, next, previous }).toEqual({ count: 3, next: null, previous: null });
    expect(results.map((row) => row["customer_identifier"])).toEqual(["cat", "ann", "bob"]);
    await expect.poll(async () => (await listCustomers(prod)).results[1]?.["name"], { timeout: 5_000 }).toBe("Zoë");
    expect((await listCustomers(prod)).results[1]).toMatchObject({
      customer_identifier: "ann",
      name: "Zoë",
      email: "ann@example.com",
      environment: "prod",
      unique_organization_id: organizationId,
      number_of_requests: 2,
      total_requests: 2,
      total_tokens: 30,
      tokens: 30,
      total_cost: 0.75,
      cost: 0.75,
      active_days: 2,
      average_latency: 2,
      average_ttft: 1,
      total_cache_hits: 1,
      first_seen: day(-3, "12:00:00.000Z"),
      last_active: day(-2, "12:00:00.000Z"),
      period_budget: null,
      budget_duration: null,
      total_budget: null,
    });
    expect(results[0]).toMatchObject({ total_cost: 0, unpriced_count: 1 });
  });

  test("sorts by every field it shows", async () => {
    await storeCustomers(prod, three());
    await expect
      .poll(async () => (await listCustomers(prod, "sort_by=-name")).results[0]?.["name"], { timeout: 5_000 })
      .toBe("Zoë");
    const orders = [
      ["customer_identifier", ["ann", "bob", "cat"]],
      ["-customer_identifier", ["cat", "bob", "ann"]],
      ["name", ["bob", "ann", "cat"]],
      ["-name", ["ann", "bob", "cat"]],
      ["email", ["ann", "bob", "cat"]],
      ["first_seen", ["bob", "ann", "cat"]],
      ["-number_of_requests", ["ann", "cat", "bob"]],
      ["-total_cost", ["bob", "ann", "cat"]],
      ["total_tokens", ["cat", "ann", "bob"]],
      ["-active_days", ["ann", "cat", "bob"]],
      ["-last_active", ["cat", "ann", "bob"]],
    ] as const;
    for (const [sortBy, names] of orders) {
      expect([sortBy, namesOf(await listCustomers(prod, `sort_by=${sortBy}`))]).toEqual([sortBy, names]);
    }
  });

  test("filters on profiles, on figures and on spans", async () => {
    await storeCustomers(prod, three());
    await expect
      .poll(async () => (await listCustomers(prod, "sort_by=-name")).results[0]?.["name"], { timeout: 5_000 })
      .toBe("Zoë");
    const found = async (filters: unknown) =>
      namesOf(await listCustomers(prod, "sort_by=customer_identifier", filters));
    expect(await found({ customer_identifier: { operator: "in", value: ["ann", "cat"] } })).toEqual(["ann", "cat"]);
    expect(await found({ name: { operator: "icontains", value: ["zOË"] } })).toEqual(["ann"]);
    expect(await found({ email: { operator: "isnull", value: [true] } })).toEqual(["bob", "cat"]);
    expect(await found({ number_of_requests: { operator: "gt", value: [1] } })).toEqual(["ann"]);
    expect(await found({ total_cost: { operator: "gte", value: [0.75] } })).toEqual(["ann", "bob"]);
    expect(await found({ total_tokens: { operator: "lt", value: [100] } })).toEqual(["ann", "cat"]);
    expect(await found({ active_days: { operator: "", value: [1] } })).toEqual(["bob", "cat"]);
    expect(await found({ first_seen: { operator: "gte", value: [day(-3)] } })).toEqual(["ann", "cat"]);
    expect(await found({ model: { operator: "", value: ["gpt-4o"] } })).toEqual(["ann", "bob"]);
    expect(await found({ name: { operator: "", value: ["Bob"] }, total_cost: { operator: "gt", value: [1] } })).toEqual(
      ["bob"],
    );
    expect(namesOf((await prod.get("/api/users/list/?customer_identifier=bob")).json as ListAnswer)).toEqual(["bob"]);
  });

  test("refuses unknown fields, operators, sorts and pages by name", async () => {
    const answers = [
      await prod.post("/api/users/list/", { filters: { nonsense: { operator: "", value: [1] } } }),
      await prod.post("/api/users/list/", { filters: { name: { operator: "nonsense", value: [1] } } }),
      await prod.post("/api/users/list/?sort_by=nonsense"),
      await prod.post("/api/users/list/?page=0"),
      await prod.post("/api/users/list/?page_size=1001"),
      await prod.post("/api/users/list/?environment=nonsense"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
  });

  test("pages, with links that keep the query", async () => {
    await storeCustomers(
      prod,
      Array.from({ length: 7 }, (_, index) => spanOf(`c${index}`)),
    );
    const first = await listCustomers(prod, "page_size=3&sort_by=-customer_identifier");
    expect([first.count, namesOf(first)]).toEqual([7, ["c6", "c5", "c4"]]);
    const last = (await prod.request("POST", first.next!, {})).json as ListAnswer;
    expect(namesOf(last)).toEqual(["c3", "c2", "c1"]);
    expect(await listCustomers(prod, "page=9&page_size=3")).toMatchObject({ count: 7, results: [], next: null });
  });

  test("has one environment, by default that of the key", async () => {
    await storeCustomers(prod, [spanOf("ann")]);
    await storeCustomers(testKey, [spanOf("tom")]);
    expect(namesOf(await listCustomers(prod))).toEqual(["ann"]);
    expect(namesOf(await listCustomers(prod, "environment=test"))).toEqual(["tom"]);
    expect(namesOf(await listCustomers(prod, "environment=all&sort_by=customer_identifier"))).toEqual(["ann", "tom"]);
    expect(namesOf(await listCustomers(testKey))).toEqual(["tom"]);
    expect((await testKey.get(pathOf("ann"))).status).toBe(404);
    expect((await testKey.get(`${pathOf("ann")}?environment=prod`)).status).toBe(200);
  });

  test("with a window, has the customers with a span in it, with figures of these spans", async () => {
    await storeCustomers(prod, three());
    const { results } = await listCustomers(prod, `start_time=${day(-2, "00:00:00Z")}&sort_by=customer_identifier`);
    expect(results.map((row) => [row["customer_identifier"], row["number_of_requests"]])).toEqual([
      ["ann", 1],
      ["cat", 1],
    ]);
  });

  describe("counts what wrappers restate once: list, profile, groups and summary agree", () => {
    type Node = [name: string, parent: string | undefined, customer: string, cost?: number];
    const cases: Array<[what: string, spans: Node[], costs: Record<string, number>]> = [
      [
        "a wrapper over the customer's own call",
        [
          ["root", undefined, "ann", 1],
          ["call", "root", "ann", 1],
        ],
        { ann: 1 },
      ],
      [
        "calls that name nobody, for whom a wrapper speaks",
        [
          ["root", undefined, "ann", 3],
          ["a", "root", "", 1],
          ["b", "root", "", 2],
        ],
        { ann: 3 },
      ],
      [
        "calls far below a wrapper",
        [
          ["root", undefined, "ann", 3],
          ["step", "root", ""],
          ["tool", "step", ""],
          ["call", "tool", "", 3],
        ],
        { ann: 3 },
      ],
      [
        "a wrapper without usage, for whose customer the call counts",
        [
          ["root", undefined, "ann"],
          ["call", "root", "", 2],
        ],
        { ann: 2 },
      ],
      [
        "a wrapper of nobody over calls of two customers",
        [
          ["root", undefined, "", 3],
          ["a", "root", "ann", 1],
          ["b", "root", "bob", 2],
        ],
        { ann: 1, bob: 2 },
      ],
      [
        "a wrapper that restates one call, and one that names nobody",
        [
          ["root", undefined, "ann", 3],
          ["a", "root", "ann", 1],
          ["b", "root", "", 2],
        ],
        { ann: 3 },
      ],
      [
        "a customer whose call stands below that of another",
        [
          ["root", undefined, "ann", 2],
          ["call", "root", "bob", 1],
        ],
        { ann: 0, bob: 1 },
      ],
      [
        "wrappers of wrappers",
        [
          ["root", undefined, "ann", 2],
          ["agent", "root", "ann", 2],
          ["call", "agent", "", 2],
        ],
        { ann: 2 },
      ],
    ];

    test("in every tree", async () => {
      const named = (customer: string, index: number) => (customer === "" ? "" : `${index} ${customer}`);
      const noUsage = { cost: null, model: null, log_type: "workflow", prompt_tokens: null, completion_tokens: null };
      const rows = cases.flatMap(([what, spans], index) =>
        spans.map(([name, parent, customer, cost]) =>
          spanOf(named(customer, index), {
            trace_unique_id: what,
            span_unique_id: name,
            ...(parent !== undefined && { span_parent_id: parent }),
            ...(cost === undefined ? noUsage : { cost }),
          }),
        ),
      );
      await storeCustomers(prod, rows);
      const customerRows = cases.flatMap(([, , costs], index) =>
        Object.entries(costs).map(([customer, cost]) => [named(customer, index), cost] as const),
      );
      const costs: Record<string, number> = Object.fromEntries(customerRows);
      const groups = await prod.get(`/api/request-logs/groups/?group_by=customer_identifier&${always}`);
      expect(costsOf(groups.json as ListAnswer)).toEqual(costs);
      expect(costsOf(await listCustomers(prod, "sort_by=-total_cost"))).toEqual(costs);
      expect(costsOf(await listCustomers(prod))).toEqual(costs);
      const inDetail = Object.entries(costs).map(async ([customer, cost]) => {
        expect(await retrieveCustomer(prod, customer)).toMatchObject({ total_cost: cost, total_usage: cost });
        const filters = { customer_identifier: { operator: "", value: [customer] } };
        const summary = bodyOf(await prod.post(`/api/request-logs/summary/?${always}`, { filters }));
        expect([customer, summary["total_cost"]]).toEqual([customer, cost]);
      });
      await Promise.all(inDetail);
    });
  });
});

const costsOf = ({ results }: ListAnswer) =>
  Object.fromEntries(results.map((row) => [String(row["customer_identifier"]), row["total_cost"]]));
