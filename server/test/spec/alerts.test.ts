import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import {
  evaluated,
  minuteMs,
  newAlert,
  newestEndMs,
  send,
  spansOf,
  startAlertApp,
  type AlertApp,
} from "../support/alerts.ts";
import { bodyOf, storeSpans } from "../support/spans.ts";
import type { ListAnswer, Row } from "../support/test-client.ts";

/** Additions E: definitions of rules. */

let app: AlertApp;
beforeAll(async () => void (app = await startAlertApp()));
afterAll(() => app.stop());

describe("rules", () => {
  test("are created, listed, changed and deleted, only in their organization", async () => {
    const { prod } = await app.newOrganization();
    const other = await app.newOrganization();
    const made = await newAlert(prod, {
      filters: { model: "m" },
      threshold: 1e6,
      group_by: "model,customer_identifier",
    });
    expect(made).toEqual({
      id: expect.any(String),
      environment: "prod",
      name: "Too many requests",
      is_enabled: true,
      filters: { model: "m" },
      metric: "number_of_requests",
      window: "5m",
      operator: "gte",
      threshold: 1e6,
      change_percentage: null,
      group_by: "model,customer_identifier",
      min_requests: 0,
      cooldown: "5m",
      channels: [],
      state: "no_data",
      group_counts: { ok: 0, triggered: 0, no_data: 0 },
      states: [],
      evaluated_until: null,
      last_error: null,
      last_error_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const path = `/api/alerts/${made.id}/`;
    const listed = (await prod.get("/api/alerts/")).json as ListAnswer;
    expect([listed.count, listed.results[0]]).toEqual([1, expect.objectContaining({ id: made.id })]);
    expect(listed.results[0]).not.toHaveProperty("states");
    const changed = await prod.request("PATCH", path, { change_percentage: 50, group_by: null, is_enabled: false });
    expect(bodyOf(changed)).toMatchObject({
      threshold: null,
      change_percentage: 50,
      group_by: null,
      is_enabled: false,
    });

    for (const client of [other.prod, app.prod]) {
      expect((await client.get(path)).status).toBe(404);
      expect((await client.get(`${path}history/`)).status).toBe(404);
      expect((await client.request("PATCH", path, { name: "x" })).status).toBe(404);
      expect((await client.request("DELETE", path)).status).toBe(404);
      expect((await client.post(`${path}test/`)).status).toBe(404);
    }
    expect((await prod.request("DELETE", path)).status).toBe(204);
    expect((await prod.get(path)).status).toBe(404);
  });

  test("are listed in pages, newest first", async () => {
    const { prod } = await app.newOrganization();
    const made: Row[] = [];
    for (let n = 0; n < 3; n += 1) {
      made.push(await newAlert(prod));
      app.pass(1);
    }
    const first = (await prod.get("/api/alerts/?page_size=2")).json as ListAnswer;
    const second = (await prod.get(String(first.next))).json as ListAnswer;
    expect([first.count, first.previous, second.count, second.next]).toEqual([3, null, 3, null]);
    const listed = [...first.results, ...second.results].map(({ id }) => id);
    expect(listed).toEqual(made.map(({ id }) => id).reverse());
    const past = await prod.get("/api/alerts/?page=9");
    expect([past.status, (past.json as ListAnswer).results]).toEqual([200, []]);
    expect((await prod.get("/api/alerts/?page=0")).status).toBe(400);
  });

  test("of a key watch its environment, and the other environment's key cannot change them", async () => {
    const { prod, test: testKey } = await app.newOrganization();
    await send(app, prod, spansOf(3));
    const rule = await newAlert(testKey);
    expect(rule["environment"]).toBe("test");
    expect((await evaluated(prod, rule.id)).states[0]).toMatchObject({ value: 0, state: "ok" });
    expect((await prod.request("PATCH", `/api/alerts/${rule.id}/`, { name: "x" })).status).toBe(403);
    expect((await prod.request("DELETE", `/api/alerts/${rule.id}/`)).status).toBe(403);
    const person = await app.login();
    expect((await newAlert(person))["environment"]).toBe("prod");
    const named = await person.post("/api/alerts/?environment=test", {
      name: "N",
      metric: "number_of_requests",
      window: "5m",
      operator: "gt",
      threshold: 1,
    });
    expect(bodyOf(named)["environment"]).toBe("test");
  });

  test.each<[Row, string]>([
    [{ name: "" }, "name"],
    [{ name: "a\r\nBcc: x@example.com" }, "name"],
    [{ metric: "total_costs" }, "metric"],
    [{ metric: "scores__" }, "metric"],
    [{ metric: "scores__nobody" }, "metric"],
    [{ metric: undefined }, "metric"],
    [{ window: "4m" }, "window"],
    [{ window: "31d" }, "window"],
    [{ window: "5" }, "window"],
    [{ window: "1.5h" }, "window"],
    [{ window: 300 }, "window"],
    [{ operator: ">" }, "operator"],
    [{ threshold: "2" }, "threshold"],
    [{ threshold: null }, "threshold"],
    [{ change_percentage: 5 }, "threshold"],
    [{ group_by: "nothing" }, "group_by"],
    [{ group_by: "model,model" }, "group_by"],
    [{ min_requests: -1 }, "min_requests"],
    [{ cooldown: "2d" }, "cooldown"],
    [{ cooldown: "soon" }, "cooldown"],
    [{ filters: { no_such_field: 1 } }, "no_such_field"],
    [{ filters: { cost: { operator: "gt", value: "many" } } }, "cost"],
    [{ filters: { scores__nobody: { operator: "gt", value: 1 } } }, "filters"],
    [{ filters: { evaluator_id: "nobody" } }, "filters"],
    [{ filters: { model: "m".repeat(apiLimits.alertFiltersChars) } }, "filters"],
    [{ filters: [] }, "filters"],
    [{ treshold: 5 }, "treshold"],
    [{ channels: [{ type: "sms", url: "https://example.com" }] }, "channels.0.type"],
    [{ channels: [{ type: "webhook" }] }, "channels.0.url"],
    [{ channels: [{ type: "slack", url: "ftp://example.com" }] }, "channels.0.url"],
    [{ channels: [{ type: "slack", url: "https://a:b@example.com" }] }, "channels.0.url"],
    [{ channels: [{ type: "webhook", url: "https://example.com/\r\nx: y" }] }, "channels.0.url"],
    [{ channels: [{ type: "webhook", url: "https://example.com", to: "a@example.com" }] }, "channels.0.to"],
    [{ channels: [{ type: "email", to: "a@example.com" }] }, "channels.0.to"],
    [{ channels: [{ type: "webhook", url: "https://example.com", id: 5 }] }, "channels.0.id"],
    [
      {
        channels: Array.from({ length: apiLimits.alertChannels + 1 }, () => ({
          type: "webhook",
          url: "https://e.com",
        })),
      },
      "channels",
    ],
  ])("with %j are 400 and the field is named", async (fields, field) => {
    const body = { name: "N", metric: "number_of_requests", window: "5m", operator: "gt", threshold: 1, ...fields };
    const answer = await app.prod.post("/api/alerts/", body);
    expect([answer.status, Object.keys((answer.json as { errors: Row }).errors)]).toEqual([400, [field]]);
  });

  test("watch any metric of a time series, and measure the same value as the chart", async () => {
    const { prod } = await app.newOrganization();
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 10,
      prompt_cache_hit_tokens: 4,
      cost: 1,
      latency: 2,
      ttft: 0.5,
    };
    const ids = { customer_identifier: "ann", trace_unique_id: "t", span_unique_id: "s" };
    await send(app, prod, [
      { ...usage, ...ids, cache_hit: true },
      { model: "unknown", prompt_tokens: 1, status: "failed" },
    ]);
    const distributions = ["latency", "time_to_first_token", "tokens_per_second"].flatMap((name) =>
      ["average", "p50", "p90", "p95", "p99"].map((kind) => `${kind}_${name}`),
    );
    const metrics = [
      ..."number_of_requests error_count total_cost total_tokens total_prompt_tokens total_completion_tokens".split(
        " ",
      ),
      ..."prompt_cache_hit_tokens unpriced_count number_of_customers number_of_traces".split(" "),
      ..."error_percentage cache_hit_percentage average_cost average_tokens".split(" "),
      ...distributions,
    ];
    const chart = await prod.get(`/api/request-logs/timeseries/?interval=1h&metrics=${metrics.join(",")}`);
    const [{ totals }] = bodyOf(chart)["series"] as [{ totals: Row }];
    const rules = await Promise.all(metrics.map((metric) => newAlert(prod, { metric, operator: "gt", threshold: 0 })));
    for (const { id, metric } of rules) {
      const { states, last_error } = await evaluated(prod, id);
      expect(states).toMatchObject([{ state: "triggered", value: totals[String(metric)] }]);
      expect(last_error).toBeNull();
    }
  });

  test.each(["name", "metric", "window", "operator"])("need their %s", async (member) => {
    const valid = { name: "a", metric: "total_cost", window: "5m", operator: "gt", threshold: 1 };
    const answer = await app.prod.post("/api/alerts/", { ...valid, [member]: undefined });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`"${member}: is required"`)]);
  });

  test("support windows from 5 minutes to 30 days, and every operator", async () => {
    const { prod } = await app.newOrganization();
    const ago = (ms: number) => ({ timestamp: new Date(newestEndMs(app.now()) - ms).toISOString(), log_type: "chat" });
    await storeSpans(prod, [ago(minuteMs), ago(minuteMs), ago(20 * minuteMs), ago(29.9 * 24 * 60 * minuteMs)]);
    const expected: Array<[Row, number, string]> = [
      [{ window: "5m", operator: "gt", threshold: 2 }, 2, "ok"],
      [{ window: "5m", operator: "gte", threshold: 2 }, 2, "triggered"],
      [{ window: "5m", operator: "lt", threshold: 2 }, 2, "ok"],
      [{ window: "5m", operator: "lte", threshold: 2 }, 2, "triggered"],
      [{ window: "1h", operator: "gt", threshold: 2 }, 3, "triggered"],
      [{ window: "29d", operator: "lt", threshold: 4 }, 3, "triggered"],
      [{ window: "30d", operator: "lt", threshold: 4 }, 4, "ok"],
      [{ window: "43200m", operator: "gte", threshold: 4 }, 4, "triggered"],
    ];
    for (const [fields, value, state] of expected) {
      const { id } = await newAlert(prod, fields);
      expect([fields, (await evaluated(prod, id)).states]).toMatchObject([fields, [{ value, state }]]);
    }
  });

  test("are limited per organization, beyond that 409", async () => {
    const { prod } = await app.newOrganization();
    for (let i = 0; i < storageLimits.alertsPerOrganization; i += 1) await newAlert(prod, { is_enabled: false });
    const body = { name: "N", metric: "number_of_requests", window: "5m", operator: "gt", threshold: 1 };
    expect((await prod.post("/api/alerts/", body)).status).toBe(409);
  });

  test("are in the audit log, without their channels' secrets", async () => {
    const rule = await newAlert(app.prod, {
      channels: [{ type: "slack", url: "https://hooks.example.com/T/secret-path" }],
    });
    expect(rule.channels).toMatchObject([{ type: "slack", url: "https://hooks.example.com/…" }]);
    await app.prod.request("PATCH", `/api/alerts/${rule.id}/`, { is_enabled: false });
    await app.prod.request("DELETE", `/api/alerts/${rule.id}/`);
    const log = await (await app.login()).get("/api/audit-log/?page_size=1000");
    const mine = (log.json as ListAnswer).results.filter(({ target }) => target === rule.id);
    expect(mine.map(({ action }) => String(action)).sort()).toEqual(["create_alert", "delete_alert", "update_alert"]);
    expect(log.text).not.toContain("secret-path");
  });
});
