import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, newAutomation, newCondition, newEvaluator, policy } from "../support/evaluation.ts";
import { bodyOf, createSpan, settle, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** Automations and their effect on logs. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_EVALUATOR_CPU_MS: "200" });
});
afterAll(() => app.stop());

const scoresOf = async (client: TestClient, query = ""): Promise<ListAnswer> =>
  (await client.get(`/api/scores/?page_size=100&${query}`)).json as ListAnswer;
const scored = (client: TestClient, count: number, query = "") =>
  eventually(async () => {
    const answer = await scoresOf(client, query);
    return answer.count >= count ? answer : undefined;
  });
const logs = (count: number, fields: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, index) => ({ log_type: "chat", output: `answer ${index}`, ...fields(index) }));
const patch = (client: TestClient, { id }: Row, change: Row) =>
  client.request("PATCH", `/automation/automations/${String(id)}/`, change);

test.concurrent("evaluators of an enabled automation score every log that matches its condition, and no other", async () => {
  const { prod } = await app.newOrganization();
  const condition = await newCondition(prod, {
    condition_policy: policy(
      { field: "metadata.tier", operator: "equals", value: "paid" },
      { field: "status_code", operator: "equals", value: 200 },
    ),
  });
  const evaluators = [
    await newEvaluator(prod),
    await newEvaluator(prod, { passing_conditions: { primary_score: { operator: "gt", value: 100 } } }),
  ];
  const automation = await newAutomation(prod, {
    condition: condition["id"],
    evaluator_ids: evaluators.map(({ id }) => id),
  });
  await storeSpans(
    prod,
    logs(6, (i) => ({
      metadata: { tier: i % 2 === 0 ? "paid" : "free" },
      status_code: i === 4 ? 500 : 200,
      span_name: `log ${i}`,
    })),
  );
  const { results } = await scored(prod, 4);
  await sleep(300);
  expect((await scoresOf(prod)).count).toBe(4);
  for (const evaluator of evaluators) {
    const own = results.filter((score) => score["evaluator_id"] === evaluator["id"]);
    expect(own).toHaveLength(2);
    for (const score of own) {
      expect(score).toMatchObject({
        numerical_value: 8,
        automation_id: automation["id"],
        status: "success",
        type: "code",
        environment: "prod",
        is_passed: evaluator === evaluators[0] ? null : false,
      });
    }
  }
  const { results: found } = await prod.list({
    [`scores__${String(evaluators[0]?.["id"])}`]: { operator: "", value: [8] },
  });
  expect(found.map((row) => String(row["span_name"])).sort()).toEqual(["log 0", "log 2"]);
});

test.concurrent("a disabled automation evaluates nothing until it is enabled", async () => {
  const { prod } = await app.newOrganization();
  const automation = await newAutomation(prod, { is_enabled: false });
  await storeSpans(
    prod,
    logs(2, () => ({})),
  );
  await patch(prod, automation, { is_enabled: true });
  const log = await createSpan(prod, { output: "seen" });
  expect((await scored(prod, 1)).results).toMatchObject([{ log_id: log["unique_id"] }]);
  await patch(prod, automation, { is_enabled: false });
  await storeSpans(
    prod,
    logs(2, () => ({})),
  );
  await sleep(300);
  expect((await scoresOf(prod)).count).toBe(1);
});

test.concurrent("logs of another environment or organization are not evaluated", async () => {
  const [one, other] = [await app.newOrganization(), await app.newOrganization()];
  await newAutomation(one.test);
  await storeSpans(
    one.prod,
    logs(2, () => ({})),
  );
  await storeSpans(
    other.test,
    logs(2, () => ({})),
  );
  const log = await createSpan(one.test, { output: "x" });
  expect((await scored(one.test, 1)).results).toMatchObject([{ log_id: log["unique_id"], environment: "test" }]);
  await sleep(300);
  expect((await scoresOf(one.prod)).count).toBe(1);
  expect((await scoresOf(other.prod)).count).toBe(0);
});

test.concurrent("a log is evaluated once, however often it is sent, when a version of it first matches", async () => {
  const { prod } = await app.newOrganization();
  const condition = await newCondition(prod, {
    condition_policy: policy({ field: "output", operator: "contains", value: "done" }),
  });
  await newAutomation(prod, { condition: condition["id"] });
  const ids = { trace_unique_id: "t", span_unique_id: "s", log_type: "chat" };
  await createSpan(prod, { ...ids, start_time: "2026-01-01T00:00:00Z", input: "begin" });
  await settle(prod);
  await sleep(200);
  expect((await scoresOf(prod)).count).toBe(0);
  const ended = { ...ids, start_time: "2026-01-01T00:00:00Z", timestamp: "2026-01-01T00:00:09Z", input: "begin" };
  await createSpan(prod, { ...ended, output: "done" });
  expect((await scored(prod, 1)).results).toMatchObject([{ numerical_value: 4 }]);
  await createSpan(prod, { ...ended, output: "done again, and longer" });
  await createSpan(prod, { ...ended, timestamp: "2026-01-01T00:00:19Z", output: "done later" });
  await settle(prod);
  await sleep(300);
  expect((await scoresOf(prod)).results).toMatchObject([{ numerical_value: 4 }]);
});

test.concurrent("a deleted score is not created again", async () => {
  const { prod } = await app.newOrganization();
  await newAutomation(prod);
  const span = { trace_unique_id: "t", span_unique_id: "s", output: "x" };
  await createSpan(prod, span);
  const [score] = (await scored(prod, 1)).results;
  await prod.request("DELETE", `/api/scores/${String(score?.["id"])}/`);
  await createSpan(prod, { ...span, output: "xy" });
  await settle(prod);
  await sleep(300);
  expect((await scoresOf(prod, `log_id=${String(score?.["log_id"])}`)).count).toBe(0);
});

test.concurrent("a log that people have scored keeps that score", async () => {
  const { prod } = await app.newOrganization();
  const evaluator = await newEvaluator(prod);
  const span = { trace_unique_id: "t", span_unique_id: "s" };
  const log_id = (await createSpan(prod, { ...span, output: "x" }))["unique_id"];
  expect((await prod.post("/api/scores/", { log_id, evaluator_id: evaluator["id"], numerical_value: 42 })).status).toBe(
    201,
  );
  await newAutomation(prod, { evaluator_ids: [evaluator["id"], (await newEvaluator(prod))["id"]] });
  await createSpan(prod, { ...span, output: "x", metadata: { again: true } });
  await scored(prod, 2);
  expect((await scoresOf(prod, `evaluator_id=${String(evaluator["id"])}`)).results).toMatchObject([
    { numerical_value: 42, automation_id: null },
  ]);
});

test.concurrent("a log that claims to be an evaluator's is still evaluated", async () => {
  const { prod } = await app.newOrganization();
  await newAutomation(prod);
  const log = await createSpan(prod, { output: "by the application", log_method: "evaluation" });
  await scored(prod, 1);
  expect((await scoresOf(prod)).results).toMatchObject([{ log_id: log["unique_id"] }]);
});

// Not concurrent, because the other tests keep the sandbox busy.
test("a sample has the size of its rate, and is the same when logs are resent", async () => {
  const { prod } = await app.newOrganization();
  const condition = await newCondition(prod, {
    condition_policy: policy({ field: "trace_unique_id", operator: "equals", value: "sampled" }),
  });
  await newAutomation(prod, { condition: condition["id"], configuration: { sampling_rate: 0.2 } });
  const rounds = logs(500, (i) => ({ trace_unique_id: "sampled", span_unique_id: `s${i}`, output: "x" }));
  // Logs are processed in order, so once the marker is queued, all are; nothing else runs meanwhile.
  await newAutomation(prod, {
    condition: (
      await newCondition(prod, {
        condition_policy: policy({ field: "trace_unique_id", operator: "equals", value: "marker" }),
      })
    )["id"],
  });
  const sampled = async (round: number): Promise<number> => {
    await storeSpans(prod, rounds);
    const marker = await createSpan(prod, { trace_unique_id: "marker", span_unique_id: `m${round}`, output: "x" });
    await scored(prod, 1, `log_id=${String(marker["unique_id"])}`);
    await eventually(async () => {
      const metrics = await (await fetch(`${app.url}/metrics`)).text();
      return metrics.includes("\nspanway_evaluation_backlog 0\n") ? true : undefined;
    });
    return (await scoresOf(prod)).count - round;
  };
  const count = await sampled(1);
  // Five standard deviations around 100.
  expect(count).toBeGreaterThan(55);
  expect(count).toBeLessThan(145);
  expect(await sampled(2)).toBe(count);
});

describe.concurrent("an evaluator that fails", () => {
  test.each<[what: string, fields: Row, error: RegExp]>([
    ["throws", { code_config: { eval_code_snippet: "function main() { throw new Error('no idea') }" } }, /no idea/],
    ["loops for ever", { code_config: { eval_code_snippet: "function main() { for (;;); }" } }, /longer than/],
    [
      "fills memory",
      {
        code_config: {
          eval_code_snippet: "function main() { const all = []; for (;;) all.push(new Array(1e4).fill(all.length)); }",
        },
      },
      /memory|longer than/,
    ],
    ["returns something else", { code_config: { eval_code_snippet: "const main = () => 'four'" } }, /must be a number/],
    [
      "names no model that there is",
      { type: "llm", code_config: null, llm_config: { model: "m", evaluator_definition: "{{output}}" } },
      /judge answered 400/,
    ],
  ])("because it %s leaves a score that says so", async (_what, fields, error) => {
    const { prod } = await app.newOrganization();
    const evaluator = await newEvaluator(prod, fields);
    const automation = await newAutomation(prod, { evaluator_ids: [evaluator["id"]] });
    const log = await createSpan(prod, { output: "x" });
    const { results } = await scored(prod, 1);
    expect(results).toMatchObject([
      {
        log_id: log["unique_id"],
        status: "failed",
        numerical_value: null,
        is_passed: null,
        error_message: expect.stringMatching(error),
      },
    ]);
    const retrieved = bodyOf(await prod.get(`/automation/automations/${String(automation["id"])}/`));
    expect(retrieved).toMatchObject({ last_error: expect.stringMatching(error), last_error_at: expect.any(String) });
    expect(
      (await prod.list({ [`scores__${String(evaluator["id"])}`]: { operator: "isnull", value: [false] } })).count,
    ).toBe(0);
  });

  test("does not affect others", async () => {
    const { prod } = await app.newOrganization();
    const bad = await newEvaluator(prod, {
      code_config: { eval_code_snippet: "function main(i) { if (i.output === 'bad') for (;;); return 1 }" },
    });
    await newAutomation(prod, { evaluator_ids: [bad["id"]] });
    await storeSpans(
      prod,
      logs(20, (i) => ({ output: i === 3 ? "bad" : "good" })),
    );
    const { results } = await scored(prod, 20);
    expect(results.filter(({ status }) => status === "failed")).toHaveLength(1);
  });
});

test.concurrent("deleting an automation keeps its scores, and its evaluator can be deleted", async () => {
  const { prod } = await app.newOrganization();
  const evaluator = await newEvaluator(prod);
  const automation = await newAutomation(prod, { evaluator_ids: [evaluator["id"]] });
  await createSpan(prod, { output: "x" });
  await scored(prod, 1);
  await prod.request("DELETE", `/automation/automations/${String(automation["id"])}/`);
  expect((await prod.request("DELETE", `/api/evaluators/${String(evaluator["id"])}/`)).status).toBe(204);
  await createSpan(prod, { output: "y" });
  await settle(prod);
  await sleep(200);
  const { results } = await scoresOf(prod);
  expect(results).toMatchObject([{ automation_id: automation["id"], evaluator_id: evaluator["id"] }]);
});

describe.concurrent("POST /api/evaluators/{id}/run/", () => {
  const run = (client: TestClient, evaluator: Row, body: Row) =>
    client.post(`/api/evaluators/${String(evaluator["id"])}/run/`, body);

  test("tries an evaluator on given inputs, and stores nothing", async () => {
    const { prod } = await app.newOrganization();
    const evaluator = await newEvaluator(prod, {
      score_value_type: "boolean",
      code_config: {
        eval_code_snippet:
          "function main(i) { return { score: i.output === i.expected_output && i.metadata.x === 1 && i.llm_input === 'q', explanation: 'compared' } }",
      },
      passing_conditions: { primary_score: { value: true } },
    });
    const inputs = { input: "q", output: "a", expected_output: "a", metadata: { x: 1 } };
    const answer = await run(prod, evaluator, { inputs });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      status: "success",
      boolean_value: true,
      is_passed: true,
      explanation: "compared",
      error_message: null,
      evaluator_id: evaluator["id"],
    });
    expect(bodyOf(await run(prod, evaluator, { inputs: { llm_output: "b" } }))).toMatchObject({
      boolean_value: false,
      is_passed: false,
    });
    expect((await scoresOf(prod)).count).toBe(0);
  });

  test("returns an error as a failed score", async () => {
    const { prod } = await app.newOrganization();
    const evaluator = await newEvaluator(prod, { code_config: { eval_code_snippet: "const main = () => missing" } });
    expect(await run(prod, evaluator, { inputs: {} })).toMatchObject({
      status: 200,
      json: { status: "failed", error_message: expect.stringContaining("missing") },
    });
    const human = await newEvaluator(prod, { type: "human", code_config: null });
    expect((await run(prod, human, { inputs: {} })).json).toHaveProperty("type");
    const { prod: other } = await app.newOrganization();
    expect((await run(other, evaluator, { inputs: {} })).status).toBe(404);
  });

  test("requires inputs", async () => {
    const { prod } = await app.newOrganization();
    const evaluator = await newEvaluator(prod);
    expect(await run(prod, evaluator, {})).toMatchObject({ status: 400, json: { inputs: ["is required"] } });
  });

  test.each<[rule: Row, type: string, inputs: Row, value: Row]>([
    [{ rule: "regex", pattern: "^\\d+$" }, "boolean", { output: "42" }, { boolean_value: true }],
    [
      { rule: "contains", text: "42", target: "input" },
      "boolean",
      { input: "41", output: "42" },
      { boolean_value: false },
    ],
    [
      { rule: "json_schema", schema: { type: "object", required: ["a"] } },
      "boolean",
      { output: '{"a":1}' },
      { boolean_value: true },
    ],
    [{ rule: "similarity" }, "percentage", { output: "same", expected_output: "Same" }, { numerical_value: 100 }],
  ])("applies the rule %j", async (rule_config, score_value_type, inputs, value) => {
    const { prod } = app;
    const evaluator = await newEvaluator(prod, { type: "rule", code_config: null, rule_config, score_value_type });
    expect(bodyOf(await run(prod, evaluator, { inputs }))).toMatchObject({ status: "success", ...value });
  });
});
