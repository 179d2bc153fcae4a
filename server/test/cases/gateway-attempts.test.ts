import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion, event, helloStream, question, usageChunk } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Shared by the attempts of one call: their time, and their cost. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SPANWAY_UPSTREAM_TOTAL_MS: "2000" });
});
afterAll(() => gateway.stop());

// Each test has its own organisation, so that failures of one test do not put the credential of the next into
// cool-down.
let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
});

test("all attempts of a call share its time limit", async () => {
  gateway.upstream.script(async (connection, request) => {
    await sleep(1_400);
    return answers(500, { error: { message: "Try again." } })(connection, request);
  });
  const began = performance.now();
  const retry_params = { retry_enabled: true, num_retries: 10, retry_after: 0.01 };
  const answer = await client.post("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [question],
    retry_params,
  });
  // The second attempt had the remaining time of the first.
  expect(answer.status).toBe(424);
  expect(answer.headers.get("x-spanway-attempts")).toBe("2");
  expect(performance.now() - began).toBeLessThan(6_000);
});

describe("a failed response is charged if its usage is stated", () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  const costUsd = (1000 * 2.5 + 100 * 10) / 1e6;
  const error = { message: "The model failed.", code: 502 };
  const start = (input_tokens: number): string =>
    event({ type: "message_start", message: { id: "msg_1", content: [], usage: { input_tokens, output_tokens: 1 } } });
  const complete = (script: Script, members: Row = {}): Promise<Answer> => {
    gateway.upstream.script(script);
    const body = { model: "gpt-4o", messages: [question], stream: true, retries: 0, ...members };
    return client.post("/api/chat/completions", body);
  };
  const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));
  const overloaded = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });

  test.each<[what: string, script: Script, stream: boolean]>([
    ["an error in a 200", answers(200, { error, usage }), false],
    ["no choice in a 200", answers(200, completion({ choices: [], usage })), false],
    ["an error event with it", streams(event({ error, usage })), true],
    ["an error event after it", streams(usageChunk(usage), event({ error })), true],
    ["an error event with it, after content", streams(...helloStream.slice(0, 3), event({ error, usage })), true],
  ])("%s", async (_what, script, stream) => {
    const answer = await complete(script, { stream });
    expect(await spanOf(answer)).toMatchObject({
      status_code: 424,
      prompt_tokens: 1000,
      completion_tokens: 100,
      cost: expect.closeTo(costUsd, 12),
      usage_is_estimated: null,
    });
  });

  test("so is the stated usage of a truncated stream, but not of one that reports a failure", async () => {
    const model = "anthropic/claude-sonnet-4-5";
    const broken = await spanOf(await complete(streams(start(1000)), { model }));
    expect(broken).toMatchObject({ status_code: 424, prompt_tokens: 1000, cost: expect.closeTo(0.003_015, 12) });
    const failed = await spanOf(await complete(streams(start(1000), overloaded), { model }));
    expect(failed).toMatchObject({ status_code: 424, prompt_tokens: null, cost: 0 });
  });

  test("in addition to the response of the fallback", async () => {
    let requests = 0;
    const script: Script = (...args) => {
      requests += 1;
      return answers(200, requests === 1 ? { error, usage } : completion({ usage }))(...args);
    };
    const members = { stream: false, fallback_models: ["gpt-4o-mini"], request_breakdown: true };
    const answer = await complete(script, members);
    expect(answer.status).toBe(200);
    const nextUsd = (1000 * 0.15 + 100 * 0.6) / 1e6;
    const span = await spanOf(answer);
    expect(span).toMatchObject({
      model: "gpt-4o-mini",
      total_tokens: 1100,
      cost: expect.closeTo(costUsd + nextUsd, 12),
    });
    expect(answer.json).toMatchObject({ request_breakdown: { cost: expect.closeTo(costUsd + nextUsd, 12) } });
    const [first, second] = span["attempts"] as Row[];
    expect(first).toMatchObject({ model: "gpt-4o", cost: expect.closeTo(costUsd, 12) });
    expect(second).not.toHaveProperty("cost");
  });

  test("in addition to a free model, and if every model fails", async () => {
    const once = (rest: Script): Script => {
      let requests = 0;
      return (...args) => ((requests += 1) === 1 ? answers(200, { error, usage }) : rest)(...args);
    };
    const echo = await complete(once(answers(200, {})), { stream: false, fallback_models: ["spanway/echo"] });
    expect(await spanOf(echo)).toMatchObject({ status_code: 200, cost: expect.closeTo(costUsd, 12) });
    const none = await complete(once(answers(500, {})), { stream: false, fallback_models: ["gpt-4o-mini"] });
    expect(await spanOf(none)).toMatchObject({
      status_code: 424,
      prompt_tokens: null,
      cost: expect.closeTo(costUsd, 12),
    });
  });
});
