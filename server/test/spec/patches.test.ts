import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { omit } from "../../src/lib/omit.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row } from "../support/test-client.ts";

/** K16: the result of a PATCH could have been created by POST, for every kind of setting. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await app.prod.post("/api/evaluators/", { ...evaluator, evaluator_slug: "judge" });
  await app.prod.post("/automation/conditions/", { ...condition, condition_slug: "all" });
});
afterAll(() => app.stop());

const judge = { model: "gpt-4o-mini", evaluator_definition: "Is {{output}} polite?" };
const evaluator = { name: "E", type: "llm", score_value_type: "numerical", llm_config: judge };
const condition = { name: "C", condition_type: "single_log", condition_policy: { rules: [] } };
const webhook = { name: "W", url: "https://example.com/hook", event_type: "request_log" };
const alert = { name: "L", metric: "error_count", window: "1h", operator: "gt", threshold: 1 };
const view = { screen: "logs", name: "V", search: "q=a" };
const price = { model: "lab-1", provider: "my-lab", rates: { input: 1 } };
const provider = { provider: "openai", api_key: "sk-0123456789abcdef" };
const customer = { period_budget: 5, budget_duration: "daily" };
const automation = {
  name: "A",
  automation_type: "online_eval",
  condition: "all",
  evaluator_ids: ["judge"],
  configuration: { sampling_rate: 0.5 },
};

type Kind = {
  path: string;
  base: Row;
  /** The member that must be unique. */
  slug?: string;
  /** Values of members, valid and invalid, that a PATCH may send. */
  members: Record<string, unknown[]>;
  /** Converts a response to the form for sending. */
  sendable?: (shown: Row) => Row;
  /** Its members, if no route retrieves one alone. */
  read?: (id: string) => Promise<Row>;
  /** The id in paths, if it is not `id`. */
  named?: string;
};

const junk = [null, "", 0, [], {}, "x".repeat(300), "a\u0000b"];
const rules = (...all: unknown[]) => ({ rules: all, connector: "AND" });

const kinds: Record<string, Kind> = {
  evaluators: {
    path: "/api/evaluators/",
    base: evaluator,
    slug: "evaluator_slug",
    members: {
      name: ["N", ...junk],
      type: ["llm", "code", "rule", "human", ...junk],
      score_value_type: ["numerical", "boolean", "single_select", "categorical", ...junk],
      score_config: [{ min_score: 5, max_score: 1 }, { choices: [] }, { choices: [{ name: "a" }] }, ...junk],
      passing_conditions: [
        { primary_score: { operator: "gte", value: 1 } },
        { primary_score: { operator: "?" } },
        ...junk,
      ],
      llm_config: [
        judge,
        { model: "m" },
        { ...judge, evaluator_definition: "{{nothing}}" },
        { ...judge, tools: [1] },
        ...junk,
      ],
      code_config: [{ eval_code_snippet: "const main = () => 1" }, { eval_code_snippet: "def main():" }, ...junk],
      rule_config: [{ rule: "contains", text: "a" }, { rule: "similarity" }, { rule: "regex" }, ...junk],
      configurations: [
        { llm_engine: "m" },
        { min_score: 9 },
        { passing_score: 1, max_score: 0 },
        { model: "m" },
        ...junk,
      ],
      categorical_choices: [[{ name: "b" }], ...junk],
      tags: [["t"], ...junk],
      eval_class: ["custom_code", ...junk],
    },
  },
  conditions: {
    path: "/automation/conditions/",
    base: condition,
    slug: "condition_slug",
    members: {
      name: ["N", ...junk],
      description: ["D", ...junk],
      condition_type: ["single_log", "other", ...junk],
      condition_policy: [
        rules({ field: "cost", operator: "greater_than", value: 1 }),
        rules({ field: "no such field", operator: "equals", value: 1 }),
        rules({ field: "cost", operator: "??", value: 1 }),
        { rules: [], connector: "XOR" },
        ...junk,
      ],
    },
  },
  webhooks: {
    path: "/api/webhooks/",
    base: webhook,
    members: {
      name: ["N", ...junk],
      url: ["https://example.com/other", "ftp://example.com", "https://a:b@example.com", ...junk],
      event_type: ["trace_completed", "nothing", ...junk],
      active: [true, false, "true", ...junk],
      organization_key: [null, "no such key", ...junk],
    },
  },
  automations: {
    path: "/automation/automations/",
    base: automation,
    slug: "automation_slug",
    members: {
      name: ["N", ...junk],
      condition: ["all", "nothing", ...junk],
      is_enabled: [true, false, "true", ...junk],
      evaluator_ids: [["judge"], ["nobody"], [1], ...junk],
      configuration: [{ sampling_rate: 1 }, { sampling_rate: 2 }, { daily_budget: -1 }, { evaluator_ids: [] }, ...junk],
    },
    sendable: (shown) => ({ ...shown, condition: (shown["condition"] as Row)["id"] }),
  },
  alerts: {
    path: "/api/alerts/",
    base: alert,
    members: {
      name: ["N", ...junk],
      metric: ["total_cost", "scores__nobody", "nothing", ...junk],
      window: ["5m", "31d", "1m", ...junk],
      operator: ["lte", "?", ...junk],
      is_enabled: [true, false, "true", ...junk],
      filters: [{ model: "m" }, { model: { operator: "?", value: [1] } }, { "no such field": 1 }, ...junk],
      threshold: [2, null, "2", ...junk],
      change_percentage: [null, 50, "50", ...junk],
      group_by: ["model", "nothing", "model,model", ...junk],
      min_requests: [3, -1, 1.5, ...junk],
      cooldown: ["1m", "2d", ...junk],
      channels: [
        [{ type: "webhook", url: "https://example.com/a" }],
        [{ type: "webhook", to: "a@example.com" }],
        [{ type: "webhook", url: "ftp://example.com" }],
        [{ id: 1, type: "webhook", url: "https://example.com/a" }],
        ...junk,
      ],
    },
    sendable: (shown) => ({
      ...shown,
      channels: (shown["channels"] as Row[]).map(({ type, url }) => ({ type, url })),
    }),
  },
  "saved views": {
    path: "/api/saved-views/",
    base: view,
    members: { name: ["N", ...junk], search: ["q=b", "a\nb", "x".repeat(9_000), ...junk] },
    read: async (id) => {
      const { results } = bodyOf(await app.prod.get("/api/saved-views/?page_size=100")) as { results: Row[] };
      return results.find((view) => view["id"] === id) ?? {};
    },
    // A screen has one view of a name.
    sendable: (shown) => ({ ...shown, screen: "traces" }),
  },
  "model prices": {
    path: "/api/model-prices/",
    base: price,
    members: {
      model: ["lab-*", "*", "**", " lab-2 ", ...junk],
      rates: [{ output: 2 }, { input: -1 }, { input: "1" }, { nothing: 1 }, { input: 1e300 }, ...junk],
      valid_from: ["2026-01-01T00:00:00Z", "2027-01-01", "yesterday", ...junk],
      valid_to: ["2026-06-01T00:00:00Z", null, "2025-01-01", "tomorrow", ...junk],
    },
    // Two prices of one model do not hold at the same time.
    sendable: (shown) => ({ ...shown, provider: "another-lab" }),
  },
  "provider settings": {
    path: "/api/providers/",
    base: provider,
    members: {
      name: ["N", ...junk],
      environment: ["prod", null, "staging", ...junk],
      base_url: [null, "https://llm.example.com/v1", "ftp://example.com", "https://a:b@example.com", ...junk],
      api_key: ["sk-another-0123456789", null, ...junk],
      region: [null, "us-east-1", ...junk],
      api_version: [null, "2024-10-21", ...junk],
      available_models: [["gpt-4o"], null, [1], [""], ...junk],
      exclude_models: [["o3"], [1], [""], ...junk],
      weight: [2, -1, 1e9, "2", ...junk],
      is_enabled: [true, false, "true", ...junk],
    },
    sendable: (shown) => ({
      ...omit(shown, "id", "has_secret", "is_readable", "secret_tail", "created_at", "updated_at", "refused_reason"),
      api_key: provider.api_key,
    }),
  },
  customers: {
    path: "/api/users/",
    base: customer,
    slug: "customer_identifier",
    named: "customer_identifier",
    members: {
      name: ["N", ...junk],
      email: ["a@example.com", ...junk],
      metadata: [{ plan: "pro" }, ...junk],
      group_identifier: ["g", ...junk],
      period_budget: [7, null, -1, "x", 1e300, ...junk],
      budget_duration: ["weekly", "never", ...junk],
      period_start: ["2026-01-01T00:00:00Z", "yesterday", ...junk],
      period_end: ["2099-01-01T00:00:00Z", "2020-01-01T00:00:00Z", ...junk],
      total_budget: [9, -1, "x", ...junk],
      rate_limit: [10, -1, 1.5, ...junk],
      markup_percentage: [20, -200, "x", ...junk],
      unpriced_calls: ["refuse", 1, -1, "free", ...junk],
    },
  },
};

/** Members of alerts that change by themselves. */
const evaluated = ["state", "states", "group_counts", "evaluated_until", "last_error", "last_error_at"];

test.each(Object.entries(kinds))("K16: POST accepts the result of a PATCH of %s", async (_name, kind) => {
  const { path, base, slug, members, named = "id", sendable = (shown: Row) => shown } = kind;
  let made = 0;
  const create = (body: Row) => {
    made += 1;
    return app.prod.post(path, { ...body, ...(slug !== undefined && { [slug]: `${slug}-${made}` }) });
  };
  const first = await create(base);
  expect(first.status).toBe(201);
  const id = String(bodyOf(first)[named]);
  const own = `${path}${id}/`;
  const names = Object.keys(members);
  const change = fc.dictionary(fc.constantFrom(...names), fc.nat(), { minKeys: 1, maxKeys: 3 });
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(change, async (picks) => {
      const sent = Object.fromEntries(
        Object.entries(picks).map(([name, pick]) => [name, members[name]![pick % members[name]!.length]]),
      );
      const read = async () => omit(await (kind.read?.(id) ?? app.prod.get(own).then(bodyOf)), ...evaluated);
      const before = await read();
      const answer = await app.prod.request("PATCH", own, sent);
      expect([200, 400]).toContain(answer.status);
      const after = await read();
      if (answer.status === 400) return JSON.stringify(after) === JSON.stringify(before);
      taken += 1;
      const again = await create(sendable(after));
      await app.prod.request("DELETE", `${path}${String(bodyOf(again)[named])}/`);
      return again.status === 201;
    }),
    // The first value of each member is valid.
    { numRuns: 150, examples: names.map((name) => [{ [name]: 0 }]) },
  );
  expect(taken).toBeGreaterThanOrEqual(names.length);
});
