import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion, done, helloStream, question, usageChunk } from "../support/chat.ts";
import { everyEndpoint } from "../support/endpoints.ts";
import { gatewayWays } from "../support/gateway-operations.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { createClient, type Answer, type Row } from "../support/test-client.ts";
import { testKeys } from "../support/test-app.ts";
import { retrieveTrace } from "../support/traces.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.script(answers(200, completion())));

const call = (members: Row = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  gateway.app.prod.post("/v1/chat/completions", { model: "gpt-4o", messages: [question], ...members }, headers);
const spanOf = (answer: Answer) => retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));

test("M5: calls below a traced span are in its trace, each once", async () => {
  const trace = "aaaabbbbccccddddeeeeffff00001111";
  const headers = { traceparent: `00-${trace}-1111222233334444-01`, baggage: "customer_identifier=acme" };
  const spans = [];
  for (let n = 0; n < 3; n += 1) spans.push(await spanOf(await call({}, headers)));
  for (const span of spans)
    expect(span).toMatchObject({
      trace_unique_id: trace,
      span_parent_id: "1111222233334444",
      customer_identifier: "acme",
      response_id: completion().id,
    });
  expect(new Set(spans.map((span) => span["span_unique_id"])).size).toBe(3);
  expect(await retrieveTrace(gateway.app.prod, trace)).toMatchObject({ span_count: 3, customer_identifier: "acme" });
});

const logIdNames = ["x-spanway-log-id", "x-svc-log-id", "x-respan-log-id", "x-keywordsai-log-id"];
describe("M5: every response names its span under all names of the product", () => {
  test.each<[string, () => Promise<Answer>]>([
    ["whole", () => call()],
    [
      "streamed",
      () => {
        gateway.upstream.script(streams(...helloStream, usageChunk(), done));
        return call({ stream: true });
      },
    ],
    [
      "of an upstream's error",
      () => {
        gateway.upstream.script(answers(500, { error: { message: "broken" } }));
        return call({ retries: 0 });
      },
    ],
    ["of a bad request", () => call({ temperature: 7 })],
  ])("%s", async (_, send) => {
    const { headers } = await send();
    const ids = logIdNames.map((name) => headers.get(name));
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(1);
  });
});

test.each(gatewayWays)("M5, M13, F7: %s is a named child of the caller's span, for its user", async (name, way) => {
  const { operation, isStream } = way;
  gateway.upstream.script(isStream ? streams(operation.begin, operation.end) : answers(200, operation.whole));
  const trace = "aaaabbbbccccddddeeeeffff00002222";
  const isMessages = operation.name === "messages";
  const user = isMessages ? { metadata: { user_id: "user-2" } } : { user: "user-2" };
  const model = operation.model;
  const { bytes, type, headers } = operation.body({ model, retries: 0, ...(isStream && { stream: true }) });
  const isForm = operation.name === "transcription";
  const body = isForm ? bytes : Buffer.from(JSON.stringify({ ...(JSON.parse(bytes.toString()) as Row), ...user }));
  const answer = await gateway.app.prod.post(operation.path, body, {
    "content-type": type,
    ...headers,
    traceparent: `00-${trace}-1111222233334444-01`,
    baggage: "thread_identifier=talk,session_identifier=visit",
  });
  expect([name, answer.status]).toEqual([name, 200]);
  expect(new Set(logIdNames.map((each) => answer.headers.get(each))).size).toBe(1);
  const span = await spanOf(answer);
  expect(span).toMatchObject({
    trace_unique_id: trace,
    span_parent_id: "1111222233334444",
    thread_identifier: "talk",
    session_identifier: "visit",
    customer_identifier: isForm ? null : "user-2",
    span_name: expect.stringMatching(new RegExp(`^\\w+ ${model.split("/").at(-1)}$`)),
  });
});

test("M13: user is the customer, and is still passed to the provider", async () => {
  expect(await spanOf(await call({ user: "user-1" }))).toMatchObject({ customer_identifier: "user-1" });
  expect(JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "")).toMatchObject({ user: "user-1" });
});

describe("a key as x-api-key", () => {
  const post = (path: string, headers: Record<string, string>) =>
    createClient(gateway.app.url).post(path, { model: "spanway/echo", messages: [question] }, headers);

  test("opens routes of the gateway", async () => {
    const sent = { "x-api-key": testKeys.prod };
    expect((await post("/v1/chat/completions", sent)).status).toBe(200);
    expect((await post("/v1/chat/completions", { "x-api-key": "spw_prod_wrong" })).status).toBe(401);
    expect((await post("/v1/chat/completions", { ...sent, authorization: "Bearer spw_prod_wrong" })).status).toBe(401);
  });

  const routes = everyEndpoint().filter(({ permission }) => permission === "gateway:call");
  test.each(routes.map(({ method, path }) => [method, path] as const))("is accepted by %s %s", async (method, path) => {
    const send = async (key: string) => {
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const url = new URL(path.replaceAll(/\{\w+\}/g, "resp_1"), gateway.app.url);
      const answer = await fetch(url, { method, headers, ...(method === "POST" && { body: "{}" }) });
      await answer.text();
      return answer.status;
    };
    expect([await send("spw_prod_wrong"), [401, 403].includes(await send(testKeys.prod))]).toEqual([401, false]);
  });

  test("and opens no other route", async () => {
    expect((await post("/api/request-logs/", { "x-api-key": testKeys.prod })).status).toBe(401);
  });
});

test.each([
  ["/v1/nothing", "openai"],
  ["/v1", "openai"],
  ["/v1/chat/completion?x=1", "openai"],
  ["/v10/nothing", "default"],
  ["/api/nothing", "default"],
])("an unknown path, %s, is 404 in the form of its clients: %s", async (path, form) => {
  const answer = await gateway.app.prod.get(path);
  const body = answer.json as Row;
  expect([answer.status, "detail" in body ? "default" : "openai"]).toEqual([404, form]);
});

test("F7: a call's span is named by operation and model, unless the caller names it", async () => {
  expect(await spanOf(await call())).toMatchObject({ span_name: "chat gpt-4o" });
  expect(await spanOf(await call({ span_name: "greet" }))).toMatchObject({ span_name: "greet" });
  const refused = await spanOf(await call({ temperature: 7 }));
  expect(refused["span_name"]).toMatch(/^chat/);
});
