import { readFileSync } from "node:fs";
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
import { always, bodyOf, listSpans, settle, sortedValues, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** Customers: interface §4.5. Each test has its own organization. */

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

const patch = (customer: string, body: unknown) => prod.request("PATCH", pathOf(customer), body);
const remove = (customer: string) => prod.request("DELETE", pathOf(customer));

describe("customers exist by being named", () => {
  test("a span creates its customer, who can be retrieved immediately", async () => {
    await prod.post("/api/request-logs/", spanOf("ann", { customer_email: "ann@example.com", customer_name: "Ann" }));
    const ann = await retrieveCustomer(prod, "ann");
    expect(ann).toMatchObject({
      customer_identifier: "ann",
      unique_organization_id: organizationId,
      environment: "prod",
      metadata: {},
      period_budget: null,
      budget_duration: null,
      total_budget: null,
      period_end: null,
      markup_percentage: 0,
      number_of_requests: 1,
      total_tokens: 15,
      total_cost: 0.5,
      total_usage: 0.5,
      is_test: false,
    });
    await expect.poll(async () => (await retrieveCustomer(prod, "ann"))["name"], { timeout: 5_000 }).toBe("Ann");
    expect(await retrieveCustomer(prod, "ann")).toMatchObject({
      email: "ann@example.com",
      first_seen: day(-1, "12:00:00.000Z"),
    });
  });

  test("an unknown customer is 404, for every method", async () => {
    const answers = await Promise.all([prod.get(pathOf("nobody")), patch("nobody", { name: "N" }), remove("nobody")]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  test("new values in spans are applied, an edit holds against repeated ones", async () => {
    await storeCustomers(prod, [spanOf("ann", { customer_name: "Ann" })]);
    expect((await patch("ann", { name: "Anna" })).status).toBe(200);
    await storeSpans(prod, [spanOf("ann", { customer_name: "Ann" })]);
    await storeCustomers(prod, [spanOf("ann", { customer_email: "new@example.com" })]);
    await expect
      .poll(async () => (await retrieveCustomer(prod, "ann"))["email"], { timeout: 5_000 })
      .toBe("new@example.com");
    expect(await retrieveCustomer(prod, "ann")).toMatchObject({ name: "Anna" });
    await storeSpans(prod, [spanOf("ann", { customer_name: "Annabel" })]);
    await expect.poll(async () => (await retrieveCustomer(prod, "ann"))["name"], { timeout: 5_000 }).toBe("Annabel");
  });

  test("one can be created beforehand, once", async () => {
    const body = { customer_identifier: "vip", name: "V", period_budget: 5, budget_duration: "weekly" };
    const made = await prod.post("/api/users/", body);
    expect([made.status, bodyOf(made)]).toMatchObject([
      201,
      { ...body, total_usage: 0, first_seen: expect.any(String) },
    ]);
    expect(namesOf(await listCustomers(prod))).toEqual(["vip"]);
    expect((await prod.post("/api/users/", body)).status).toBe(409);
    expect(bodyOf(await prod.post("/api/users/", {}))).toEqual({ customer_identifier: [expect.any(String)] });
  });

  test("identifiers may contain any text", async () => {
    const odd = ["a/b", "50%", "...", "zoë ✓", "a.b@c+d", "List", "q?x=1#y", "😀"];
    await storeCustomers(
      prod,
      odd.map((name) => spanOf(name)),
    );
    const listed = await listCustomers(prod, "sort_by=customer_identifier");
    expect(sortedValues(listed.results, "customer_identifier")).toEqual([...odd].sort());
    for (const name of odd) {
      expect(await retrieveCustomer(prod, name)).toMatchObject({ customer_identifier: name, number_of_requests: 1 });
      expect(bodyOf(await patch(name, { name: `is ${name}` }))).toMatchObject({ name: `is ${name}` });
    }
    expect((await remove("a/b")).status).toBe(200);
    expect((await prod.get(pathOf("a/b"))).status).toBe(404);
  });
});

describe("an identifier is handled alike in every place", () => {
  const long = "x".repeat(255);
  const places: Array<[place: string, send: (identifier: unknown) => Promise<Answer>, refusal: number]> = [
    ["a span", (customer_identifier) => prod.post("/api/request-logs/", { customer_identifier }), 422],
    [
      "a span's customer_params",
      (customer_identifier) => prod.post("/api/request-logs/", { customer_params: { customer_identifier } }),
      422,
    ],
    ["a call", (customer_identifier) => chat({ customer_identifier }), 400],
    ["a call's customer_params", (customer_identifier) => chat({ customer_params: { customer_identifier } }), 400],
    ["a call's svc_params", (customer_identifier) => chat({ svc_params: { customer_identifier } }), 400],
    ["POST /api/users/", (customer_identifier) => prod.post("/api/users/", { customer_identifier }), 400],
  ];
  const chat = (members: Row): Promise<Answer> =>
    prod.post("/v1/chat/completions", {
      model: "spanway/echo",
      messages: [{ role: "user", content: "Hi" }],
      ...members,
    });

  test.each(places)("in %s", async (_place, send, refusal) => {
    const odd = ["a/b c", " spaced ", "50%2F", "zoë ✓ 😀", "x".repeat(254)];
    for (const name of odd) {
      expect((await send(name)).status).toBeLessThan(300);
      await expect.poll(async () => (await prod.get(pathOf(name))).status, { timeout: 5_000 }).toBe(200);
      expect(await retrieveCustomer(prod, name)).toMatchObject({ customer_identifier: name });
    }
    // URL parsers fold two of the names away, encoded or not, and the third is the list.
    for (const bad of [long, 7, ["a"], { a: 1 }, ".", "..", "list"])
      expect([bad, (await send(bad)).status]).toEqual([bad, refusal]);
  });
});

describe("a customer in detail", () => {
  test("shows usage of the current period and of all time, with markup", async () => {
    const today = new Date(Date.now() - 60_000).toISOString();
    await storeCustomers(prod, [
      spanOf("ann", { timestamp: day(-40), cost: 2 }),
      spanOf("ann", { timestamp: today, cost: 1, model: "o3" }),
    ]);
    const budget = { period_budget: 10, budget_duration: "monthly", period_start: day(-10, "00:00:00Z") };
    const answer = await patch("ann", { ...budget, markup_percentage: 20 });
    expect(answer.status).toBe(200);
    expect(bodyOf(answer)).toMatchObject({
      period_budget: 10,
      budget_duration: "monthly",
      markup_percentage: 20,
      period_start: day(-10, "00:00:00.000Z"),
      total_period_usage: 1.2,
      total_usage: 3.6,
      total_cost: 3,
    });
    const ann = await retrieveCustomer(prod, "ann");
    expect(ann).toEqual(bodyOf(answer));
    expect(ann["current_period_start"]).toBe(day(-10, "00:00:00.000Z"));
    expect(ann["period_end"]).toBe(ann["current_period_end"]);
    expect(ann["top_models"]).toEqual([
      { model: "gpt-4o", number_of_requests: 1, total_cost: 2 },
      { model: "o3", number_of_requests: 1, total_cost: 1 },
    ]);
  });
});

describe("PATCH", () => {
  const make = (customer_identifier: string) => prod.post("/api/users/", { customer_identifier });

  test("changes the given fields, null clears", async () => {
    await make("ann");
    const metadata = { plan: "pro", long: 1, nested: { a: [1, null] } };
    const all = { email: "a@b.co", name: "Ann", metadata, total_budget: 50.5, rate_limit: 10, group_identifier: "g" };
    const answer = await patch("ann", { ...all, customer_identifier: "other" });
    expect([answer.status, bodyOf(answer)]).toMatchObject([200, { ...all, customer_identifier: "ann" }]);
    expect(bodyOf(await patch("ann", {}))).toMatchObject(all);
    const cleared = {
      email: null,
      name: "",
      metadata: null,
      total_budget: null,
      rate_limit: null,
      unpriced_calls: null,
      group_identifier: null,
    };
    expect(bodyOf(await patch("ann", cleared))).toMatchObject({ ...cleared, name: null, metadata: {} });
  });

  test("returns error messages per field, and changes nothing", async () => {
    await make("ann");
    const wrong = [
      [{ email: 1 }, "email"],
      [{ email: "nonsense" }, "email"],
      [{ name: {} }, "name"],
      [{ metadata: [1] }, "metadata"],
      [{ metadata: "text" }, "metadata"],
      [{ period_budget: "10" }, "period_budget"],
      [{ period_budget: -1 }, "period_budget"],
      [{ total_budget: true }, "total_budget"],
      [{ total_budget: 1e300 }, "total_budget"],
      [{ budget_duration: "hourly" }, "budget_duration"],
      [{ budget_duration: 7 }, "budget_duration"],
      [{ period_start: "yesterday" }, "period_start"],
      [{ period_end: {} }, "period_end"],
      [{ period_start: "2026-02-01", period_end: "2026-02-01" }, "period_end"],
      [{ budget_duration: "weekly", period_end: "1970-01-05" }, "period_end"],
      [{ markup_percentage: "20" }, "markup_percentage"],
      [{ rate_limit: 1.5 }, "rate_limit"],
    ] as const;
    for (const [body, field] of wrong) {
      const answer = await patch("ann", { name: "kept out", ...body });
      expect([body, answer.status, answer.json]).toEqual([body, 400, { [field]: [expect.any(String)] }]);
    }
    expect((await retrieveCustomer(prod, "ann"))["name"]).toBeNull();
  });

  test("names every invalid field", async () => {
    await make("ann");
    const answer = await patch("ann", { period_budget: "x", budget_duration: "x", name: "fine" });
    expect(Object.keys(bodyOf(answer)).sort()).toEqual(["budget_duration", "period_budget"]);
  });

  test("M13: a period budget needs a period: by default the calendar month", async () => {
    await make("ann");
    const month = `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`;
    const [year, number] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
    const kept = {
      budget_duration: "monthly",
      period_start: month,
      current_period_start: month,
      current_period_end: new Date(Date.UTC(year, number + 1)).toISOString(),
    };
    expect(bodyOf(await patch("ann", { period_budget: 5 }))).toMatchObject(kept);
    await make("bob");
    expect(bodyOf(await patch("bob", { period_budget: 5, budget_duration: "monthly" }))).toMatchObject(kept);
    const guide = readFileSync(new URL("../../../docs/set-a-budget.md", import.meta.url), "utf8");
    expect(guide).toContain("`monthly` without `period_start` is the calendar month (UTC)");
    const explicit = { period_start: day(-1, "00:00:00.000Z"), period_end: day(3, "00:00:00.000Z") };
    expect(bodyOf(await patch("ann", explicit))).toMatchObject({
      ...explicit,
      current_period_end: explicit.period_end,
    });
  });

  test.each([
    [{}, { period_budget: 5, budget_duration: null }, "budget_duration"],
    [{ period_budget: 5 }, { budget_duration: null }, "budget_duration"],
    [
      { period_budget: 5, period_end: day(3, "00:00:00.000Z"), budget_duration: null },
      { period_end: null },
      "period_end",
    ],
  ])("M13: a budget that nothing would keep to is refused: %j, then %j", async (before, change, field) => {
    await make("eve");
    expect((await patch("eve", before)).status).toBe(200);
    const answer = await patch("eve", change);
    expect([answer.status, Object.keys(bodyOf(answer))]).toEqual([400, [field]]);
    expect((await patch("eve", { ...change, period_budget: null })).status).toBe(200);
  });

  test.each(["daily", "weekly", "monthly", "yearly"])(
    "a %s budget whose first period has an end is made again from what is shown",
    async (budget_duration) => {
      for (const period_end of ["1970-01-06", "2020-02-29T12:00:00Z", "2099-01-01"]) {
        await make("ann");
        const shown = bodyOf(await patch("ann", { period_budget: 5, budget_duration, period_end }));
        expect(shown["period_end"]).toBe(new Date(period_end).toISOString());
        const { current_period_start, current_period_end } = await retrieveCustomer(prod, "ann");
        expect((await prod.post("/api/users/", { ...shown, customer_identifier: "bob" })).status).toBe(201);
        expect(await retrieveCustomer(prod, "bob")).toMatchObject({ current_period_start, current_period_end });
        for (const name of ["ann", "bob"]) await remove(name);
      }
    },
  );

  const unkept = { customer_identifier: "eve", period_budget: 5, budget_duration: null };
  test.each([
    ["as it is made", "/api/users/", unkept],
    [
      "with a call",
      "/v1/chat/completions",
      { model: "spanway/echo", messages: [{ role: "user", content: "Hi." }], customer_params: unkept },
    ],
    ["with a span", "/api/request-logs/", { customer_params: unkept }],
  ])("M13: no customer gets such a budget %s", async (_how, path, body) => {
    const answer = await prod.post(path, body);
    const isSpan = answer.status === 201 && path === "/api/request-logs/";
    expect([answer.status, isSpan || answer.text.includes("budget_duration")]).toEqual([isSpan ? 201 : 400, true]);
    const eve = bodyOf(await prod.get(pathOf("eve")));
    expect([eve["period_budget"] ?? null, eve["budget_duration"] ?? null]).not.toEqual([5, null]);
  });

  test("shows in the list immediately", async () => {
    await make("ann");
    await make("bob");
    for (let index = 0; index < 5; index += 1) {
      await patch("ann", { name: `name ${index}` });
      const filters = { name: { operator: "", value: [`name ${index}`] } };
      expect((await listCustomers(prod, "", filters)).results).toMatchObject([
        { customer_identifier: "ann", name: `name ${index}` },
      ]);
    }
  });

  test("requires the permission to write", async () => {
    await make("ann");
    expect((await prod.request("PATCH", pathOf("ann"), "not json")).status).toBe(400);
    expect((await fetch(new URL(pathOf("ann"), app.url), { method: "PATCH", body: "{}" })).status).toBe(401);
  });
});

describe("DELETE", () => {
  test("returns 200 without a body, and nothing names the customer any more", async () => {
    const trace = { trace_unique_id: "t1", customer_email: "ann@example.com", customer_name: "Ann" };
    await storeCustomers(prod, [
      spanOf("ann", { ...trace, span_unique_id: "s1", thread_identifier: "th", metadata: { k: "v" }, input: "kept" }),
      spanOf("ann", {
        customer_params: { customer_identifier: "ann", name: "Ann", email: "ann@example.com" },
        variables: { x: [1] },
      }),
      spanOf("bob"),
    ]);
    await patch("ann", { total_budget: 3 });
    const answer = await remove("ann");
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(namesOf(await listCustomers(prod))).toEqual(["bob"]);
    expect((await prod.get(pathOf("ann"))).status).toBe(404);
    expect((await remove("ann")).status).toBe(404);
    const spans = await listSpans(prod, {}, "page_size=100");
    const unnamed = spans.results.filter((row) => row["log_type"] === "chat" && row["customer_identifier"] !== "bob");
    expect(unnamed).toHaveLength(2);
    for (const row of unnamed) {
      const whole = await prod.get(`/api/request-logs/${String(row["unique_id"])}/`);
      expect(whole.text).not.toContain("ann@example.com");
      expect(bodyOf(whole)).toMatchObject({ customer_identifier: null, cost: 0.5, total_tokens: 15 });
    }
    const metadata = unnamed.map((row) => row["metadata"]);
    expect(metadata).toContainEqual({ k: "v" });
    expect((await listSpans(prod, { customer_identifier: { operator: "", value: ["ann"] } })).count).toBe(0);
    expect((await prod.get(`/api/traces/t1/`)).text).not.toContain("ann");
    const groups = await prod.get(`/api/request-logs/groups/?group_by=customer_identifier&${always}`);
    expect(sortedValues((groups.json as ListAnswer).results, "customer_identifier")).toEqual(["", "bob"]);
  });

  test("a span that names it afterwards creates a new customer", async () => {
    await storeCustomers(prod, [spanOf("ann", { customer_name: "Ann" })]);
    await patch("ann", { total_budget: 3 });
    await remove("ann");
    // Without ids of its own, a span that ended before the deletion counts as a resend.
    await storeSpans(prod, [spanOf("ann")]);
    expect((await prod.get(pathOf("ann"))).status).toBe(404);
    const now = new Date().toISOString();
    await storeCustomers(prod, [spanOf("ann", { cost: 0.25, timestamp: now })]);
    expect(await retrieveCustomer(prod, "ann")).toMatchObject({
      name: null,
      total_budget: null,
      total_cost: 0.25,
      number_of_requests: 1,
    });
  });

  test("includes spans that were accepted right before", async () => {
    await storeCustomers(prod, [spanOf("ann")]);
    const made = bodyOf(await prod.post("/api/request-logs/", spanOf("ann")));
    expect((await remove("ann")).status).toBe(200);
    await settle(prod);
    const whole = await prod.get(`/api/request-logs/${String(made["unique_id"])}/`);
    expect(bodyOf(whole)).toMatchObject({ customer_identifier: null });
  });

  test("does not affect the same customer of others", async () => {
    const other = await newOrganization();
    for (const client of [prod, testKey, other.prod]) await storeCustomers(client, [spanOf("ann")]);
    await remove("ann");
    expect(await retrieveCustomer(testKey, "ann")).toMatchObject({ number_of_requests: 1 });
    expect(await retrieveCustomer(other.prod, "ann")).toMatchObject({ number_of_requests: 1 });
  });
});
