import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { ScoreValueType } from "../domain/evaluator.ts";
import type { Score } from "../domain/score.ts";
import type { SpanRow } from "../domain/span.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { evaluationLimits } from "./limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { testEvaluator } from "./evaluation.fixture.ts";
import { createSentScores } from "./sent-scores.ts";

const signal = new AbortController().signal;
let stores: ControlStores;
let close: () => Promise<void>;
let outcomes: Map<string, number>;
let subscriber: SpanSubscriber;
beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
  outcomes = new Map();
  subscriber = createSentScores({
    stores,
    count: (outcome, results) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + results),
    wake: () => undefined,
    now: () => Date.parse("2026-03-01T10:00:00Z"),
  });
  for (const unique_organization_id of ["org", "other"]) {
    const organization = { unique_organization_id, name: "A", retention_days: null };
    await stores.organizations.create({ ...organization, created_at: "2026-03-01T10:00:00.000Z" });
  }
});
afterEach(() => close());

/** A stored span with results, given as attributes without their common prefix. */
function spanWith(results: ReadonlyArray<Record<string, unknown>>, organization_id = "org"): SpanRow {
  const events = results.map((result) => ({
    name: "gen_ai.evaluation.result",
    attributes: Object.fromEntries(
      Object.entries(result).map(([key, value]) => [key.startsWith("error") ? key : `gen_ai.evaluation.${key}`, value]),
    ),
  }));
  return {
    organization_id,
    environment: "prod",
    timestamp: "2026-03-01 10:00:00.000000000",
    unique_id: randomUUID(),
    version: "1",
    metadata: { "otel.events": events },
  };
}

const take = (...rows: SpanRow[]): Promise<void> =>
  subscriber.consume(
    rows.map((row) => ({ organizationId: row.organization_id, rows: [row] })),
    signal,
  );
const scoresOf = ({ organization_id, unique_id }: SpanRow): Promise<Score[]> =>
  stores.scores.listOfLogs(organization_id, [unique_id]);

test.each<[type: ScoreValueType, result: Record<string, unknown>, expected: Partial<Score>]>([
  ["numerical", { "score.value": 4 }, { numerical_value: 4, is_passed: null }],
  ["numerical", { "score.value": "0.5", "score.label": "fail" }, { numerical_value: 0.5, is_passed: false }],
  [
    "numerical",
    { "score.label": "good" },
    { status: "failed", error_message: expect.stringContaining("a number") as string },
  ],
  ["percentage", { "score.value": 101 }, { status: "failed", error_message: expect.stringContaining("100") as string }],
  ["boolean", { "score.value": 1 }, { boolean_value: true }],
  ["boolean", { "score.value": false }, { boolean_value: false }],
  ["boolean", { "score.label": "PASS" }, { boolean_value: true, is_passed: true }],
  ["boolean", { "score.value": 0.5 }, { status: "failed" }],
  ["text", { "score.value": 3, "score.label": "relevant" }, { string_value: "relevant" }],
  ["text", { "score.value": 3 }, { string_value: "3" }],
  ["single_select", { "score.label": "good" }, { categorical_value: ["good"] }],
  ["single_select", { "score.label": "odd" }, { status: "failed" }],
  ["multi_select", { "score.label": "good" }, { categorical_value: ["good"] }],
  ["json", { "score.value": 3, "score.label": "good" }, { json_value: '{"value":3,"label":"good"}' }],
  ["numerical", { "error.type": "timeout", explanation: "slow" }, { status: "failed", error_message: "timeout" }],
])("a result is a score of its evaluator's type: %s of %j", async (score_value_type, result, expected) => {
  const score_config = { choices: [{ name: "good" }, { name: "bad" }] };
  const evaluator = await stores.evaluators.create(
    testEvaluator({ evaluator_slug: "mine", score_value_type, score_config }),
  );
  const span = spanWith([{ name: "mine", ...result }]);
  await take(span);
  expect(await scoresOf(span)).toMatchObject([
    { status: "success", ...expected, evaluator_id: evaluator.id, type: "llm", score_value_type },
  ]);
});

test("a name that is not a valid slug still finds its evaluator, and only that of its organization", async () => {
  const names = ["Tool Choice", "正確性", "--", "x".repeat(5_000), "__proto__"];
  const results = names.map((name) => ({ name, "score.value": 1 }));
  const [first, second, other] = [spanWith(results), spanWith(results), spanWith(results, "other")];
  await take(first, second, other);
  for (const span of [first, second, other]) expect(await scoresOf(span)).toHaveLength(names.length);
  expect([await stores.evaluators.count("org"), await stores.evaluators.count("other")]).toEqual([5, 5]);
  expect(await stores.evaluators.findBySlugs("org", ["Tool-Choice", "__proto__"])).toHaveLength(2);
});

test("a name that is unsafe in a path, or is the id of another evaluator, gets a different slug", async () => {
  const { id, evaluator_slug } = await stores.evaluators.create(testEvaluator());
  const names = [".", "..", "list", " ..-", id, id.toUpperCase()];
  const span = spanWith(names.map((name) => ({ name, "score.value": 1 })));
  await take(span);
  const slugs = [".", "..", "list", id, id.toUpperCase()].map((name) => `evaluation-${name}`);
  expect((await scoresOf(span)).map((score) => score.evaluator_slug).sort()).toEqual(slugs.sort());
  expect(await stores.evaluators.find("org", id)).toMatchObject({ evaluator_slug });
  await stores.evaluators.remove("org", id);
  expect(await stores.evaluators.find("org", id)).toBeUndefined();
});

test("results read back from the journal or the store count once", async () => {
  const span = spanWith([{ name: "a", "score.value": 1 }]);
  const asText = { ...span, metadata: JSON.stringify(span.metadata) };
  expect(subscriber.concerns?.(asText)).toBe(true);
  await take(asText, { ...spanWith([{ name: "a", "score.value": 2 }]), unique_id: span.unique_id });
  await take(span);
  expect(await scoresOf(span)).toMatchObject([{ numerical_value: 1 }]);
  expect(Object.fromEntries(outcomes)).toMatchObject({ scored: 1, known: 2, left_out: 0 });
});

test("the number of evaluators and scores is limited", async () => {
  const count = evaluationLimits.evaluatorsMadeByName - 1;
  for (let made = 0; made < count; made += 1) await stores.evaluators.create(testEvaluator());
  const span = spanWith(["a", "b", "c"].map((name) => ({ name, "score.value": 1 })));
  await take(span);
  expect(await scoresOf(span)).toMatchObject([{ evaluator_slug: "a" }]);
  expect(outcomes.get("left_out")).toBe(2);

  const many = Array.from({ length: evaluationLimits.scoresSentPerSpan + 1 }, () => ({ name: "a", "score.value": 1 }));
  await take(spanWith(many));
  expect(outcomes.get("left_out")).toBe(3);
});

test("any content of a result is accepted", async () => {
  const value = fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.integer()),
    fc.object(),
  );
  const result = fc.record(
    {
      name: fc.oneof(fc.string(), value),
      "score.value": value,
      "score.label": value,
      explanation: value,
      "error.type": value,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(result, { maxLength: 5 }), async (results) => {
      const span = spanWith(results);
      await take(span);
      for (const score of await scoresOf(span)) {
        expect(score.status === "failed").toBe(score.error_message !== null);
        expect(score.evaluator_slug).toMatch(/^[\w.-]+$/);
      }
    }),
    { numRuns: 60 },
  );
});
