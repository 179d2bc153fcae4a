import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alertsLimits } from "../../src/alerts/limits.ts";
import { spanGroupings } from "../../src/storage/spans/span-store.ts";
import {
  evaluated,
  historyOf,
  minuteMs,
  newAlert,
  newPath,
  newestEndMs,
  nextMinute,
  received,
  retrieveAlert,
  send,
  spansOf,
  startAlertApp,
  type AlertApp,
  type AlertRow,
} from "../support/alerts.ts";
import { eventually, newEvaluator } from "../support/evaluation.ts";
import { startReceiver, verify, type Receiver } from "../support/receiver.ts";
import { bodyOf } from "../support/spans.ts";
import type { ListAnswer, Row } from "../support/test-client.ts";

/** Additions E: when a rule triggers. */

let app: AlertApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startAlertApp();
});
afterAll(async () => {
  await app.stop();
  await receiver.close();
});

describe("an evaluation", () => {
  test("triggers, sends a signed webhook, links the spans, and resolves", async () => {
    const { prod } = await app.newOrganization();
    const path = newPath();
    await send(app, prod, [...spansOf(2, { model: "m", cost: 0.5 }), ...spansOf(3, { model: "n" })]);
    const made = await newAlert(prod, {
      filters: { model: "m" },
      metric: "total_cost",
      operator: "gt",
      threshold: 0.9,
      channels: [{ type: "webhook", url: receiver.url + path }],
    });
    const rule = await evaluated(prod, made.id);
    expect(rule).toMatchObject({ state: "triggered", group_counts: { ok: 0, triggered: 1, no_data: 0 } });
    expect(rule.states).toMatchObject([{ group: {}, state: "triggered", value: 1, number_of_requests: 2 }]);
    const linked = (await prod.get(rule.states[0]!.spans_url)).json as ListAnswer;
    expect(linked.results.map(({ model }) => model)).toEqual(["m", "m"]);

    const [event] = await received(receiver, path, 1);
    expect(verify(made.channels[0]!.secrets!, event!)).toMatchObject({
      type: "alert_triggered",
      alert: { id: made.id, name: made["name"], url: null },
      state: "triggered",
      previous_state: "ok",
      value: 1,
      threshold: 0.9,
      window_end: rule.evaluated_until,
      spans_url: expect.stringMatching(/^\/api\/request-logs\/list\//),
      is_test: false,
    });
    expect(event!.headers["x-spanway-event"]).toBe("alert_triggered");

    app.pass(5 * minuteMs);
    const after = await evaluated(prod, made.id, rule.evaluated_until!);
    expect(after.state).toBe("no_data");
    const events = await received(receiver, path, 2);
    expect(events[1]!.json).toMatchObject({ type: "alert_resolved", state: "no_data", previous_state: "triggered" });
    const history = await historyOf(prod, made.id);
    expect(history).toMatchObject([
      { event: "alert_resolved", state: "no_data", previous_state: "triggered", value: null },
      { event: "alert_triggered", state: "triggered", previous_state: "ok", value: 1, number_of_requests: 2 },
    ]);
    for (const { id } of history) expect(id).toMatch(/^[\da-f-]{36}$/);
    const newest = (await prod.get(`/api/alerts/${made.id}/history/?page_size=1`)).json as ListAnswer;
    const oldest = (await prod.get(String(newest.next))).json as ListAnswer;
    expect([...newest.results, ...oldest.results].map(({ id }) => id)).toEqual(history.map(({ id }) => id));
    expect([newest.count, oldest.next]).toEqual([2, null]);
    await eventually(async () => {
      const [, triggered] = await historyOf(prod, made.id);
      const [delivery] = triggered!["deliveries"] as Row[];
      return delivery?.["status"] === "delivered" ? delivery : undefined;
    });
  });

  test("keeps a state for each group, links each group's spans, and forgets no triggered group", async () => {
    const { prod } = await app.newOrganization();
    const path = newPath();
    await send(app, prod, [
      ...spansOf(3, { customer_identifier: 'acme, "inc" <b>' }),
      { customer_identifier: "small" },
      ...spansOf(2, {}),
    ]);
    const made = await newAlert(prod, {
      group_by: "customer_identifier",
      channels: [{ type: "webhook", url: receiver.url + path }],
    });
    const rule = await evaluated(prod, made.id);
    const states = new Map(rule.states.map((state) => [state.group["customer_identifier"], state]));
    expect(states.get('acme, "inc" <b>')).toMatchObject({ state: "triggered", value: 3 });
    expect(states.get("small")).toMatchObject({ state: "ok", value: 1 });
    expect(states.get("")).toMatchObject({ state: "triggered", value: 2 });
    for (const { spans_url, value } of rule.states) {
      expect(((await prod.get(spans_url)).json as ListAnswer).count).toBe(value);
    }
    const events = await received(receiver, path, 2);
    expect(events.map(({ json }) => String(json["customer_identifier"])).sort()).toEqual(["", 'acme, "inc" <b>']);
    // For a count metric, a group without spans has 0.
    app.pass(5 * minuteMs);
    const after = await evaluated(prod, made.id, rule.evaluated_until!);
    expect(after["group_counts"]).toEqual({ ok: 3, triggered: 0, no_data: 0 });
    for (const state of after.states) expect(state).toMatchObject({ value: 0, previous_value: null });
    expect((await received(receiver, path, 4)).slice(2).map(({ json }) => json["type"])).toEqual([
      "alert_resolved",
      "alert_resolved",
    ]);
    // It is forgotten after a day without spans.
    app.pass(alertsLimits.alertGroupMemoryMs + 10 * minuteMs);
    const later = await eventually(async () => {
      const found = await retrieveAlert(prod, made.id);
      return found.states.length === 0 ? found : undefined;
    }, 20_000);
    expect(later.state).toBe("no_data");
  });

  test("compares with the previous window if a rule has a change_percentage", async () => {
    const { prod } = await app.newOrganization();
    const before = new Date(newestEndMs(app.now()) - 7 * minuteMs).toISOString();
    await send(app, prod, [...spansOf(2, { timestamp: before, model: "up" }), ...spansOf(4, { model: "up" })]);
    await send(app, prod, [...spansOf(4, { timestamp: before, model: "down" }), ...spansOf(1, { model: "down" })]);
    await send(app, prod, spansOf(1, { model: "new" }));
    const rules = {
      up: await newAlert(prod, { operator: "gte", change_percentage: 100, group_by: "model" }),
      down: await newAlert(prod, { operator: "lt", change_percentage: -50, group_by: "model" }),
      least: await newAlert(prod, { operator: "gte", change_percentage: 100, group_by: "model", min_requests: 2 }),
    };
    const triggered = async ({ id }: AlertRow) =>
      (await evaluated(prod, id)).states
        .filter(({ state }) => state === "triggered")
        .map(({ group }) => String(group["model"]));
    expect((await triggered(rules.up)).sort()).toEqual(["new", "up"]);
    expect(await triggered(rules.down)).toEqual(["down"]);
    expect(await triggered(rules.least)).toEqual(["up"]);
    const [up] = (await retrieveAlert(prod, rules.least.id)).states;
    expect(up).toMatchObject({ value: 4, previous_value: 2 });
  });

  test("without spans is no_data except for counts, and with fewer than min_requests for these too", async () => {
    const { prod } = await app.newOrganization();
    await send(app, prod, [{ latency: 3 }]);
    const quiet = { filters: { model: "nobody" } };
    const expected: Array<[Row, string]> = [
      [{ ...quiet, metric: "average_latency" }, "no_data"],
      [{ ...quiet, metric: "total_cost" }, "no_data"],
      [{ ...quiet, operator: "lt", threshold: 1 }, "triggered"],
      [{ ...quiet, operator: "lt", threshold: 1, min_requests: 1 }, "no_data"],
      [{ metric: "p95_latency", operator: "gt", threshold: 2 }, "triggered"],
      [{ metric: "p95_latency", operator: "gt", threshold: 2, min_requests: 2 }, "no_data"],
      [{ metric: "p95_latency", operator: "gt", threshold: 3 }, "ok"],
    ];
    for (const [fields, state] of expected) {
      const { id } = await newAlert(prod, fields);
      expect([fields, (await evaluated(prod, id)).state]).toEqual([fields, state]);
    }
  });

  test("averages scores of an evaluator; after its deletion the rule has an error, and others continue", async () => {
    const { prod } = await app.newOrganization();
    const evaluator = await newEvaluator(prod);
    const timestamp = new Date(newestEndMs(app.now()) - minuteMs / 2).toISOString();
    const log = bodyOf(await prod.post("/api/request-logs/", { timestamp, log_type: "chat" }));
    await prod.waitForSpans(1);
    await prod.post(`/api/logs/${String(log["unique_id"])}/scores/`, {
      evaluator_slug: evaluator["evaluator_slug"],
      numerical_value: 4,
    });
    const slug = String(evaluator["evaluator_slug"]);
    const filters = { [`scores__${slug}`]: { operator: "gt", value: 3 } };
    await prod.waitForSpans(1, filters);
    const scored = await newAlert(prod, { metric: `scores__${slug}`, operator: "gt", threshold: 3 });
    const filtered = await newAlert(prod, { filters, threshold: 1 });
    const plain = await newAlert(prod, { threshold: 1 });
    expect((await evaluated(prod, scored.id)).states).toMatchObject([{ state: "triggered", value: 4 }]);
    expect((await evaluated(prod, filtered.id)).state).toBe("triggered");
    const { evaluated_until } = await evaluated(prod, plain.id);
    const deleted = await prod.request("DELETE", `/api/evaluators/${slug}/`);
    expect(deleted.status).toBe(204);
    app.pass(minuteMs);
    await evaluated(prod, plain.id, evaluated_until!);
    for (const { id } of [scored, filtered]) {
      const failed = await eventually(async () => {
        const rule = await retrieveAlert(prod, id);
        return rule.last_error === null ? undefined : rule;
      });
      expect(failed).toMatchObject({ state: "triggered", last_error: expect.stringContaining(slug) });
      expect((await historyOf(prod, id))[0]).toMatchObject({ error: failed.last_error, state: null, event: null });
    }
  });

  test("accepts every grouping field, and its link lists the spans of the group", async () => {
    const { prod } = await app.newOrganization();
    await send(app, prod, [
      {
        model: "m",
        customer_identifier: "c",
        trace_unique_id: "t",
        thread_identifier: "th",
        span_name: "s",
        custom_identifier: "x",
        session_identifier: "se",
        span_workflow_name: "w",
        status_code: 418,
        metadata: { plan: 'pro, "max"' },
      },
      { model: "m", metadata: { plan: "free" } },
      { metadata: {} },
    ]);
    const rules = await Promise.all(
      [...spanGroupings, "metadata__plan", "model,metadata__plan", "trace,customer_identifier"].map((group_by) =>
        newAlert(prod, { group_by, threshold: 1 }),
      ),
    );
    for (const { id, group_by } of rules) {
      const { states } = await evaluated(prod, id);
      expect([group_by, states.length > 0]).toEqual([group_by, true]);
      for (const { spans_url, value } of states) {
        const linked = (await prod.get(spans_url)).json as ListAnswer;
        expect([group_by, linked.count]).toEqual([group_by, value]);
      }
    }
    const byTwo = rules.find(({ group_by }) => group_by === "model,metadata__plan");
    expect((await retrieveAlert(prod, String(byTwo?.id))).states).toHaveLength(3);
  });

  test("happens once per window: a late span changes the next one, and a clock set back repeats none", async () => {
    const { prod } = await app.newOrganization();
    const path = newPath();
    const made = await newAlert(prod, { threshold: 1, channels: [{ type: "webhook", url: receiver.url + path }] });
    const first = await evaluated(prod, made.id);
    expect(first.state).toBe("ok");
    await send(app, prod, [{ timestamp: new Date(Date.parse(first.evaluated_until!) - minuteMs).toISOString() }]);
    expect((await retrieveAlert(prod, made.id)).states).toEqual(first.states);
    const second = await nextMinute(app, prod, made);
    expect(second.state).toBe("triggered");
    app.pass(-10 * minuteMs);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await retrieveAlert(prod, made.id)).evaluated_until).toBe(second.evaluated_until);
    app.pass(11 * minuteMs);
    const third = await evaluated(prod, made.id, second.evaluated_until!);
    expect(Date.parse(third.evaluated_until!)).toBeGreaterThan(Date.parse(second.evaluated_until!));
    expect(receiver.on(path)).toHaveLength(1);
  });

  test("catches up after a gap with consecutive windows", async () => {
    const { prod } = await app.newOrganization();
    const made = await newAlert(prod, { threshold: 1 });
    const first = await evaluated(prod, made.id);
    const inGap = new Date(Date.parse(first.evaluated_until!) + 2 * minuteMs).toISOString();
    await send(app, prod, [{ timestamp: inGap }]);
    app.pass(20 * minuteMs);
    await eventually(async () => {
      const { evaluated_until } = await retrieveAlert(prod, made.id);
      return Date.parse(evaluated_until!) >= Date.parse(first.evaluated_until!) + 20 * minuteMs || undefined;
    }, 20_000);
    const events = (await historyOf(prod, made.id)).filter(({ event }) => event !== null);
    expect(events).toMatchObject([{ event: "alert_resolved" }, { event: "alert_triggered", value: 1 }]);
  });
});

test("a deleted customer is removed from states, history and payloads", async () => {
  const { prod } = await app.newOrganization();
  const path = newPath();
  await send(app, prod, [
    ...spansOf(2, { customer_identifier: "gone-customer" }),
    ...spansOf(2, { customer_identifier: "kept" }),
  ]);
  const made = await newAlert(prod, {
    group_by: "customer_identifier",
    channels: [{ type: "webhook", url: receiver.url + path }],
  });
  await evaluated(prod, made.id);
  await received(receiver, path, 2);
  const answer = await prod.request("DELETE", "/api/users/gone-customer/");
  expect(answer.status).toBeLessThan(300);
  await eventually(async () => {
    const texts = await Promise.all(["", "history/"].map((suffix) => prod.get(`/api/alerts/${made.id}/${suffix}`)));
    return texts.every(({ text }) => !text.includes("gone-customer") && text.includes("kept")) || undefined;
  });
});

test("a rule whose filters name a deleted customer is unchanged; its history does not link to the customer", async () => {
  const { prod } = await app.newOrganization();
  const path = newPath();
  await send(app, prod, spansOf(2, { customer_identifier: "gone customer" }));
  const made = await newAlert(prod, {
    filters: { customer_identifier: { value: ["gone customer"] } },
    channels: [{ type: "webhook", url: receiver.url + path }],
  });
  receiver.answer(path, (_request, response) => response.writeHead(500).end());
  await evaluated(prod, made.id);
  const [notification] = await received(receiver, path, 1);
  const mentions = (text: string) => decodeURIComponent(text.replaceAll("+", " ")).includes("gone customer");
  expect(mentions(String(notification!.json["spans_url"]))).toBe(true);
  const history = async () => (await prod.get(`/api/alerts/${made.id}/history/`)).text;
  expect(mentions(await history())).toBe(true);
  expect((await prod.request("DELETE", "/api/users/gone%20customer/")).status).toBeLessThan(300);
  await eventually(async () => !mentions(await history()) || undefined, 20_000);
  expect(await historyOf(prod, made.id)).toMatchObject([{ event: "alert_triggered", spans_url: null }]);
  // The failed delivery is retried without the name.
  app.pass(5 * minuteMs);
  const again = (await received(receiver, path, 2))[1]!.json;
  expect([again["spans_url"], mentions(JSON.stringify(again))]).toEqual([null, false]);
  // Its spans no longer name a customer.
  const after = await nextMinute(app, prod, made);
  expect([after.state, after["filters"]]).toEqual(["ok", made["filters"]]);
});

test("rules measured together have the same results as alone, even with too many groups to watch", async () => {
  const { prod } = await app.newOrganization();
  const timestamp = new Date(newestEndMs(app.now()) - minuteMs / 2).toISOString();
  const span = (customer_identifier: string, cost: number) => ({
    log_type: "chat",
    timestamp,
    customer_identifier,
    cost,
  });
  const twice = Array.from({ length: alertsLimits.alertGroups }, (_, index) => `customer-${index}`);
  const logs = [...twice, ...twice].map((customer) => span(customer, 0.001)).concat(span("dear", 5));
  for (let start = 0; start < logs.length; start += 500) {
    const answer = await prod.post("/api/request-logs/bulk/", { logs: logs.slice(start, start + 500) });
    expect(answer.status).toBe(201);
  }
  await prod.waitForSpans(logs.length);
  const rules = {
    many: await newAlert(prod, { group_by: "customer_identifier" }),
    dear: await newAlert(prod, { group_by: "customer_identifier", metric: "total_cost", threshold: 1 }),
    few: await newAlert(prod, { group_by: "customer_identifier", operator: "lt" }),
    all: await newAlert(prod, { metric: "total_cost" }),
    allSlow: await newAlert(prod, { metric: "p95_latency" }),
    one: await newAlert(prod, { filters: { customer_identifier: "dear" }, metric: "total_cost", threshold: 1 }),
    none: await newAlert(prod, { filters: { cost: { operator: "gt", value: [5] } } }),
  };
  const seen = async ({ id }: AlertRow) => (await evaluated(prod, id))["group_counts"];
  const minute = () => Promise.all(Object.values(rules).map(seen));
  const expected = [
    { ok: 0, triggered: alertsLimits.alertGroups, no_data: 0 },
    { ok: alertsLimits.alertGroups - 1, triggered: 1, no_data: 0 },
    { ok: alertsLimits.alertGroups, triggered: 0, no_data: 0 },
    { ok: 0, triggered: 1, no_data: 0 },
    { ok: 0, triggered: 0, no_data: 1 },
    { ok: 0, triggered: 1, no_data: 0 },
    { ok: 1, triggered: 0, no_data: 0 },
  ];
  expect(await minute()).toEqual(expected);
  // The rules were created one by one; from the next minute on they are due together.
  await nextMinute(app, prod, rules.few);
  expect(await minute()).toEqual(expected);
});

test("a disabled rule is not evaluated; once enabled, it begins with the newest window", async () => {
  const { prod } = await app.newOrganization();
  const made = await newAlert(prod, { threshold: 1 });
  const { evaluated_until } = await evaluated(prod, made.id);
  const path = `/api/alerts/${made.id}/`;
  await prod.request("PATCH", path, { is_enabled: false });
  const inPause = new Date(Date.parse(evaluated_until!) + minuteMs).toISOString();
  app.pass(30 * minuteMs);
  await send(app, prod, [{ timestamp: inPause }]);
  await prod.request("PATCH", path, { is_enabled: true });
  const after = await evaluated(prod, made.id, evaluated_until!);
  expect(Date.parse(after.evaluated_until!)).toBeGreaterThanOrEqual(Date.parse(evaluated_until!) + 29 * minuteMs);
  expect((await historyOf(prod, made.id)).filter(({ event }) => event !== null)).toEqual([]);
});

test("a rule with a changed definition resolves what it had reported", async () => {
  const { prod } = await app.newOrganization();
  const path = newPath();
  await send(app, prod, spansOf(2, { model: "m" }));
  const made = await newAlert(prod, { group_by: "model", channels: [{ type: "webhook", url: receiver.url + path }] });
  await received(receiver, path, 1);
  await prod.request("PATCH", `/api/alerts/${made.id}/`, { group_by: "log_type" });
  const { evaluated_until } = await retrieveAlert(prod, made.id);
  app.pass(minuteMs);
  await evaluated(prod, made.id, evaluated_until ?? "");
  const [, ...later] = (await received(receiver, path, 3)).map(({ json }) => [json["type"], json["group"]]);
  expect(later).toEqual([
    ["alert_resolved", { model: "m" }],
    ["alert_triggered", { log_type: "chat" }],
  ]);
});
