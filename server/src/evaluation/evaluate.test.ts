import { describe, expect, test, vi } from "vitest";
import { evaluationLimits } from "./limits.ts";
import { createEvaluate, createJudgeGate } from "./evaluate.ts";
import { inputsOf } from "./evaluation-inputs.ts";
import { testEvaluator, testLog } from "./evaluation.fixture.ts";
import { createJudgeMedia } from "./judge-media.ts";
import { JudgeError, type JudgeModel } from "./judge.ts";

const never = () => Promise.reject(new Error("no sandbox here"));
const sandbox = { run: never, waiting: () => 0, stop: never };
const context = { organizationId: "org", environment: "prod" as const, signal: new AbortController().signal };
const { withMedia } = createJudgeMedia({ readMedia: never });
const evaluateWith = (judge: JudgeModel) => createEvaluate({ sandbox, judge, withMedia, judgeGate: createJudgeGate() });
const says =
  (answer: unknown, costUsd: number | null = 0.01): JudgeModel =>
  () =>
    Promise.resolve({ content: typeof answer === "string" ? answer : JSON.stringify(answer), costUsd });
const inputs = inputsOf(testLog());
const choices = { choices: [{ name: "good" }, { name: "bad" }] };

describe("a judge", () => {
  test("receives the prompt, its parameters and the form of its answer", async () => {
    const judge = vi.fn(says({ explanation: "fine", score: 4 }));
    const evaluator = testEvaluator({
      score_config: { min_score: 1, max_score: 5 },
      passing_conditions: { primary_score: { operator: "gte", value: 3 } },
    });
    const outcome = await evaluateWith(judge)(evaluator, inputs, context);
    expect(outcome).toEqual({
      ok: true,
      value: expect.objectContaining({ numerical_value: 4 }),
      explanation: "fine",
      isPassed: true,
      costUsd: 0.01,
    });
    const [request, callContext] = judge.mock.calls[0] ?? [];
    expect(request).toMatchObject({
      model: "judge-1",
      temperature: 0,
      messages: [{ role: "system" }, { role: "user", content: "Rate an answer for paid" }],
      response_format: {
        type: "json_schema",
        json_schema: {
          strict: true,
          schema: {
            required: ["explanation", "score"],
            properties: { score: { type: "number", minimum: 1, maximum: 5 } },
          },
        },
      },
    });
    expect(callContext).toMatchObject({ organizationId: "org", environment: "prod" });
  });

  test.each([
    ["numerical", {}, { type: "number" }, 1.5, { numerical_value: 1.5 }],
    ["percentage", {}, { type: "number", minimum: 0, maximum: 100 }, 99, { numerical_value: 99 }],
    ["boolean", {}, { type: "boolean" }, false, { boolean_value: false }],
    ["text", {}, { type: "string" }, "fine", { string_value: "fine" }],
    ["json", {}, { type: "string", description: "JSON text" }, '{"a":1}', { json_value: '{"a":1}' }],
    ["single_select", choices, { type: "string", enum: ["good", "bad"] }, "bad", { categorical_value: ["bad"] }],
    [
      "multi_select",
      choices,
      { type: "array", items: { type: "string", enum: ["good", "bad"] } },
      ["bad", "good"],
      { categorical_value: ["bad", "good"] },
    ],
  ] as const)("scores %s", async (score_value_type, config, schema, score, value) => {
    const judge = vi.fn(says({ explanation: "", score }));
    const score_config = "choices" in config ? { choices: [...config.choices] } : {};
    const outcome = await evaluateWith(judge)(testEvaluator({ score_value_type, score_config }), inputs, context);
    expect(outcome).toMatchObject({ ok: true, value });
    expect(judge.mock.calls[0]?.[0]).toMatchObject({
      response_format: { json_schema: { schema: { properties: { score: schema } } } },
    });
  });

  test("that does not answer in time fails, and may be retried", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    // Fake timers do not affect the timeouts of signals.
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException("late", "TimeoutError")), ms);
      return controller.signal;
    });
    try {
      let given: AbortSignal | undefined;
      const silent: JudgeModel = (_request, { signal }) => {
        given = signal;
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new JudgeError("aborted", { isTransient: false }))),
        );
      };
      const outcome = evaluateWith(silent)(testEvaluator(), inputs, context);
      await vi.advanceTimersByTimeAsync(evaluationLimits.judgeMs - 1);
      expect(given?.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(given?.aborted).toBe(true);
      expect(await outcome).toMatchObject({
        ok: false,
        isTransient: true,
        error: expect.stringContaining("longer than"),
      });
    } finally {
      timeout.mockRestore();
      vi.useRealTimers();
    }
  });

  test.each([
    ["prose", "I would say four."],
    ["other JSON", { rating: 4 }],
    ["no JSON object", "4"],
    ["a score of another type", { score: "four" }],
    ["a score beyond the scale", { score: 6 }],
    ["nothing", ""],
  ])("that answers %s is called again, with its cost counted", async (_what, answer) => {
    const evaluator = testEvaluator({ score_config: { min_score: 1, max_score: 5 } });
    const outcome = await evaluateWith(says(answer))(evaluator, inputs, context);
    expect(outcome).toEqual({
      ok: false,
      error: expect.stringMatching(/^the judge's answer: /),
      isTransient: true,
      costUsd: 0.01,
    });
  });

  test.each([
    ["an upstream that is down", new JudgeError("the model could not be called", { isTransient: true }), true],
    ["an unknown model", new JudgeError("there is no such model", { isTransient: false }), false],
    ["a fault of ours", new Error("secret detail"), true],
  ])("behind %s fails with a reason", async (_what, error, isTransient) => {
    const outcome = await evaluateWith(() => Promise.reject(error))(testEvaluator(), inputs, context);
    expect(outcome).toMatchObject({ ok: false, isTransient });
    expect(JSON.stringify(outcome)).not.toContain("secret detail");
  });

  test("is called a few times concurrently for one organization", async () => {
    let running = 0;
    let most = 0;
    const judge: JudgeModel = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return { content: '{"score":1}', costUsd: null };
    };
    const evaluate = evaluateWith(judge);
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => evaluate(testEvaluator(), inputs, context)));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(most).toBe(8);
  });
});

test("a judge's media is in memory for a few concurrent judgements, and an organization leaves room for others", async () => {
  const image = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(2_000, 7)]).toString("base64");
  const pictured = inputsOf(testLog({ output: `data:image/png;base64,${image}` }));
  const release = Promise.withResolvers<void>();
  const running: string[] = [];
  const judge: JudgeModel = async (_request, { organizationId }) => {
    running.push(organizationId);
    await release.promise;
    return { content: '{"score":1}', costUsd: null };
  };
  const media = createJudgeMedia({ readMedia: () => Promise.resolve([]) });
  const evaluate = createEvaluate({ sandbox, judge, withMedia: media.withMedia, judgeGate: createJudgeGate() });
  const of = (organizationId: string) => evaluate(testEvaluator(), pictured, { ...context, organizationId });
  const outcomes = [...Array.from({ length: 20 }, () => of("busy")), of("calm")];
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(running).toEqual([...Array.from({ length: 6 }, () => "busy"), "calm"]);
  // The number of judge calls per organization is limited anyway.
  expect(media.waiting()).toBe(evaluationLimits.judgesPerOrganization - 6);
  release.resolve();
  expect((await Promise.all(outcomes)).every(({ ok }) => ok)).toBe(true);
  expect(running).toHaveLength(21);
});

describe("the inputs of a log", () => {
  test.each([
    [{ output: "plain" }, "plain"],
    [{ output: "", completion_message: '{"role":"assistant","content":"said"}' }, "said"],
    [
      { output: "", completion_message: '{"role":"assistant","content":null,"tool_calls":[]}' },
      '{"role":"assistant","content":null,"tool_calls":[]}',
    ],
    [{ output: "", completion_messages: '[{"content":"a"}]' }, '[{"content":"a"}]'],
    [{ output: "" }, ""],
  ])("%j have the output %j", (fields, output) => {
    expect(inputsOf(testLog(fields))).toMatchObject({ output, llm_output: output });
  });

  test("contain its messages, metadata, metrics and ideal output", () => {
    const log = testLog({
      prompt_messages: '[{"role":"user","content":"q"}]',
      extra: '{"ideal_output":{"a":1}}',
      latency: 1.5,
      cost: null,
      model: "m",
    });
    expect(inputsOf(log)).toMatchObject({
      input: '[{"role":"user","content":"q"}]',
      expected_output: '{"a":1}',
      metadata: { tier: "paid" },
      metrics: { latency: 1.5, cost: null, model: "m" },
    });
  });
});
