import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
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
};

test.each(Object.entries(kinds))("K16: POST accepts the result of a PATCH of %s", async (_name, kind) => {
  const { path, base, slug, members, sendable = (shown: Row) => shown } = kind;
  let made = 0;
  const create = (body: Row) => {
    made += 1;
    return app.prod.post(path, { ...body, ...(slug !== undefined && { [slug]: `${slug}-${made}` }) });
  };
  const first = await create(base);
  expect(first.status).toBe(201);
  const own = `${path}${String(bodyOf(first)["id"])}/`;
  const names = Object.keys(members);
  const change = fc.dictionary(fc.constantFrom(...names), fc.nat(), { minKeys: 1, maxKeys: 3 });
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(change, async (picks) => {
      const sent = Object.fromEntries(
        Object.entries(picks).map(([name, pick]) => [name, members[name]![pick % members[name]!.length]]),
      );
      const before = bodyOf(await app.prod.get(own));
      const answer = await app.prod.request("PATCH", own, sent);
      expect([200, 400]).toContain(answer.status);
      const after = bodyOf(await app.prod.get(own));
      if (answer.status === 400) return JSON.stringify(after) === JSON.stringify(before);
      taken += 1;
      const again = await create(sendable(after));
      await app.prod.request("DELETE", `${path}${String(bodyOf(again)["id"])}/`);
      return again.status === 201;
    }),
    // The first value of each member is valid.
    { numRuns: 150, examples: names.map((name) => [{ [name]: 0 }]) },
  );
  expect(taken).toBeGreaterThanOrEqual(names.length);
});
