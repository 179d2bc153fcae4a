import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { completion } from "../support/chat.ts";
import { eventually, newAutomation, newEvaluator } from "../support/evaluation.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";
import { bodyOf, createSpan } from "../support/spans.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** Model judges, called through the gateway. */

let gateway: TestGateway;
let client: TestClient;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  ({ prod: client } = await gateway.app.newOrganization());
});

const says = (content: string) =>
  completion({ choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });
const newJudge = (fields: Row = {}) =>
  newEvaluator(client, {
    type: "llm",
    code_config: null,
    llm_config: { model: "gpt-4o", evaluator_definition: "Is {{output}} polite to {{metadata.who}}?" },
    ...fields,
  });
const run = async (evaluator: Row) =>
  bodyOf(
    await client.post(`/api/evaluators/${String(evaluator["id"])}/run/`, {
      inputs: { output: "Good day {{input}}", metadata: { who: "Ada" } },
    }),
  );

test("an automation's judge scores a log, at a cost, and its own call is logged and never evaluated", async () => {
  gateway.upstream.script(answers(200, says('{"explanation":"very","score":5}')));
  const judge = await newJudge();
  await newAutomation(client, { evaluator_ids: [judge["id"]] });
  const log = await createSpan(client, { output: "Good day", metadata: { who: "Ada" } });
  const scores = async () => (await client.get("/api/scores/")).json as ListAnswer;
  const { results } = await eventually(async () => ((await scores()).count > 0 ? scores() : undefined));
  expect(results).toMatchObject([
    {
      log_id: log["unique_id"],
      numerical_value: 5,
      explanation: "very",
      type: "llm",
      status: "success",
      cost: expect.any(Number),
    },
  ]);
  expect(Number(results[0]?.["cost"])).toBeGreaterThan(0);
  const calls = await client.waitForSpans(1, { log_method: { value: ["evaluation"] } });
  expect(calls.results).toMatchObject([{ model: "gpt-4o", environment: "prod" }]);
  await sleep(500);
  expect((await scores()).count).toBe(1);
});

test("a judge is called for JSON in the form of its scores, with the log's values as text", async () => {
  gateway.upstream.script(answers(200, says('{"explanation":"","score":true}')));
  expect(await run(await newJudge({ score_value_type: "boolean" }))).toMatchObject({
    status: "success",
    boolean_value: true,
  });
  const sent = JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;
  expect(sent).toMatchObject({
    model: "gpt-4o",
    messages: [{ role: "system" }, { role: "user", content: "Is Good day {{input}} polite to Ada?" }],
    response_format: { type: "json_schema", json_schema: { schema: { properties: { score: { type: "boolean" } } } } },
  });
});

test.each([
  ["is no JSON", 200, says("Rather polite."), /the judge's answer/],
  ["has another form", 200, says('{"politeness":5}'), /the judge's answer/],
  [
    "is a refusal of the request",
    400,
    { error: { message: "no such parameter" } },
    /answered 400: .*no such parameter/,
  ],
  ["is a failure of the upstream", 401, { error: { message: "bad key" } }, /answered 424/],
])("an answer that %s is a failed score with the reason", async (_what, status, body, error) => {
  gateway.upstream.script(answers(status, body));
  expect(await run(await newJudge())).toMatchObject({
    status: "failed",
    numerical_value: null,
    error_message: expect.stringMatching(error),
  });
});

test("a model that no provider has is a failed score with the reason", async () => {
  const judge = await newJudge({ llm_config: { model: "no-such-model-at-all", evaluator_definition: "x" } });
  expect(await run(judge)).toMatchObject({ status: "failed", error_message: expect.stringMatching(/judge/) });
});
