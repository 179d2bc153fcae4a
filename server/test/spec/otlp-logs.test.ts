import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, newEvaluator } from "../support/evaluation.ts";
import { attributesOf, fixture, protobufType, randomHex, send, storedSpans } from "../support/otlp.ts";
import { encodeLogs, encodeTraces, type JsonLogRecord, type JsonLogs } from "../support/otlp-encoder.ts";
import {
  arrivals,
  eventRecord,
  logsOf,
  newIds,
  sendBoth,
  spanWithoutContent,
  whenSpan,
  type Ids,
} from "../support/otlp-logs.ts";
import { bodyOf, listSpans, retrieveSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
/** A client of an organization without logs. */
let other: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
  ({ prod: other } = await app.newOrganization());
});
afterAll(() => app.stop());

const text = (value: string) => ({ stringValue: value });
/** The events of GenAI 1.28 to 1.36, with their name as an attribute and the message as the body. */
const conversation = (ids: Ids): JsonLogs =>
  logsOf(
    record(ids, "gen_ai.user.message", [{ key: "content", value: text("Weather?") }]),
    record(ids, "gen_ai.choice", [
      { key: "index", value: { intValue: 0 } },
      {
        key: "message",
        value: {
          kvlistValue: {
            values: [
              { key: "role", value: text("assistant") },
              { key: "content", value: text("Sunny.") },
            ],
          },
        },
      },
    ]),
  );
const record = (ids: Ids, name: string, values: Array<{ key: string; value: object }>): JsonLogRecord => ({
  ...ids,
  timeUnixNano: "1700000001000000000",
  attributes: [{ key: "event.name", value: text(name) }],
  body: { kvlistValue: { values } },
});

const whole = {
  span_name: "chat gpt-4o-mini",
  log_type: "chat",
  model: "gpt-4o-mini",
  prompt_messages: [{ role: "user", content: "Weather?" }],
  completion_message: { role: "assistant", content: "Sunny." },
  prompt_tokens: 57,
  completion_tokens: 17,
  total_tokens: 74,
  latency: 1.500000001,
  metadata: { plan: "pro" },
};

/** Polls until the span has an answer; joining happens in the background. */
async function joined(client: TestClient, { spanId }: Ids): Promise<Row[]> {
  for (let tries = 0; ; tries += 1) {
    const rows = await storedSpans(client, { span_unique_id: [spanId] });
    if (rows.some((row) => row["completion_message"] !== null) || tries > 100) return rows;
    await sleep(100);
  }
}

describe.concurrent("log events with content complete their span", () => {
  test("when they arrive after it", async () => {
    const ids = newIds();
    expect((await prod.post("/api/v2/traces", spanWithoutContent(ids))).status).toBe(200);
    const answer = await prod.post("/api/v1/logs", conversation(ids));
    expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
    const rows = await joined(prod, ids);
    expect(rows).toMatchObject([whole]);
    expect(rows[0]?.["cost"]).toBeCloseTo(18.75e-6, 10);
  });

  test("when they arrive before it", async () => {
    const ids = newIds();
    await prod.post("/api/v1/logs", conversation(ids));
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    expect(await joined(prod, ids)).toMatchObject([whole]);
  });

  test("when they arrive one by one, around it", async () => {
    const ids = newIds();
    const [user, choice] = conversation(ids).resourceLogs[0]!.scopeLogs![0]!.logRecords!;
    await prod.post("/v1/logs", logsOf(user!));
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    await prod.post("/v1/logs", logsOf(choice!));
    expect(await joined(prod, ids)).toMatchObject([whole]);
  });

  test("and stay when the exporter sends the bare span again", async () => {
    const ids = newIds();
    await prod.post("/api/v1/logs", conversation(ids));
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    await joined(prod, ids);
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    expect(await storedSpans(prod, { span_unique_id: [ids.spanId] })).toMatchObject([whole]);
  });

  test("in protobuf, with the name in its own field and messages of 1.37", async () => {
    const ids = newIds();
    const messages = (role: string, content: string) =>
      text(JSON.stringify([{ role, parts: [{ type: "text", content }] }]));
    const details = {
      ...ids,
      timeUnixNano: "1700000001000000000",
      eventName: "gen_ai.client.inference.operation.details",
      attributes: [
        { key: "gen_ai.input.messages", value: messages("user", "Weather?") },
        { key: "gen_ai.output.messages", value: messages("assistant", "Sunny.") },
      ],
    };
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    const answer = await prod.post("/api/v1/logs", new Uint8Array(encodeLogs(logsOf(details))), protobufType);
    expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([
      200,
      "",
      "application/x-protobuf",
    ]);
    expect(await joined(prod, ids)).toMatchObject([whole]);
  });

  test("but never a span of another environment or organisation", async () => {
    const ids = newIds();
    for (const client of [app.test, other]) await client.post("/api/v2/traces", spanWithoutContent(ids));
    await prod.post("/api/v1/logs", conversation(ids));
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    await joined(prod, ids);
    const messagesOf = async (client: TestClient, environment: string): Promise<unknown[]> => {
      const { results } = await client.list({ span_unique_id: [ids.spanId] }, { environment });
      return results.map((row) => row["prompt_messages"]);
    };
    expect(await messagesOf(prod, "prod")).toEqual([whole.prompt_messages]);
    expect(await messagesOf(prod, "test")).toEqual([null]);
    expect(await messagesOf(other, "prod")).toEqual([null]);
  });
});

describe.concurrent("a logged exception makes its span an error", () => {
  const thrown = {
    "exception.type": "RateLimitError",
    "exception.message": "429 slow down",
    "exception.stacktrace": "at",
  };
  const failed = { ...whole, status: "failed", status_code: 429, error_message: "429 slow down" };
  const unstated = { prompt_messages: null, completion_message: null };
  const isFailed = (row: Row): boolean => row["status"] === "failed";

  test.each(arrivals)("that arrived %s, once, and without changing the rest", async (arrival) => {
    const ids = newIds();
    await other.post("/api/v2/traces", spanWithoutContent(ids));
    // LiteLLM: the name as an attribute, the message as the body too.
    const exception = {
      ...eventRecord(ids, "", { "event.name": "gen_ai.client.operation.exception", ...thrown }, { severityNumber: 13 }),
      body: text("429 slow down"),
    };
    await sendBoth(prod, arrival, spanWithoutContent(ids), logsOf(exception));
    const row = await whenSpan(prod, ids, isFailed);
    const events = [{ name: "gen_ai.client.operation.exception", time: expect.any(String), attributes: thrown }];
    const expected = { ...failed, ...unstated, metadata: { plan: "pro", "otel.events": events } };
    expect(row).toMatchObject(expected);
    // Neither a resent record nor a resent bare span changes anything; the record of another span is sent with them.
    const last = newIds();
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    await prod.post("/api/v2/traces", spanWithoutContent(last));
    await prod.post("/api/v1/logs", logsOf(exception, eventRecord(last, "exception", thrown)));
    await whenSpan(prod, last, isFailed);
    expect(await whenSpan(prod, ids, () => true)).toMatchObject(expected);
    const fine = { status: "success", status_code: 200, error_message: null };
    expect(await whenSpan(other, ids, () => true)).toMatchObject(fine);
  });

  test.each(arrivals)("and still completes it, %s", async (arrival) => {
    const ids = newIds();
    const exception = eventRecord(ids, "exception", thrown, { severityNumber: 17 });
    const [scope] = conversation(ids).resourceLogs[0]!.scopeLogs!;
    await sendBoth(prod, arrival, spanWithoutContent(ids), logsOf(...scope!.logRecords!, exception));
    expect(await whenSpan(prod, ids, isFailed)).toMatchObject(failed);
  });

  test("also beside a malformed record, of which only that one is counted", async () => {
    const ids = newIds();
    const logRecords = [null, eventRecord(ids, "exception", thrown)];
    const answer = await prod.post("/api/v1/logs", { resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    expect(answer.json).toMatchObject({ partialSuccess: { rejectedLogRecords: 1 } });
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    expect(await whenSpan(prod, ids, () => true)).toMatchObject({ status: "failed", status_code: 429 });
  });

  test.each(arrivals)("unless the conventions or the span state otherwise, %s", async (arrival) => {
    const model = "gen_ai.client.operation.exception";
    const fine = { status: "success", status_code: 200, error_message: null };
    const broken = { status: "failed", status_code: 429, error_message: "429 slow down" };
    const cases: Array<[log: Partial<JsonLogRecord>, span: Row, expected: Row]> = [
      [{ eventName: "exception" }, {}, broken],
      // For an error that was handled or retried, the severity is below ERROR.
      [{ eventName: "exception", severityNumber: 13 }, {}, fine],
      // An application's own log line.
      [{ severityNumber: 17 }, {}, fine],
      [{ eventName: model }, { status: { code: 1 } }, fine],
      [
        { eventName: model },
        { status: { code: 2, message: "too much" } },
        { ...broken, status_code: 500, error_message: "too much" },
      ],
      [
        { eventName: model },
        { status: { code: 2 }, attributes: attributesOf({ "error.type": "RateLimitError" }) },
        broken,
      ],
    ];
    const given = cases.map(([log, span, expected]) => ({ ids: newIds(), log, span, expected }));
    for (const { ids, log, span } of given) {
      const { eventName = "", ...fields } = log;
      await sendBoth(prod, arrival, spanWithoutContent(ids, span), logsOf(eventRecord(ids, eventName, thrown, fields)));
    }
    // Unchanged spans cannot be waited for: wait for the last one, which changes.
    await whenSpan(prod, given.at(-1)!.ids, (row) => row["error_message"] === "429 slow down");
    const rows = await storedSpans(prod, { span_unique_id: given.map(({ ids }) => ids.spanId) });
    const byId = new Map(rows.map((row) => [row["span_unique_id"], row]));
    expect(rows).toHaveLength(cases.length);
    expect(given.map(({ ids }) => byId.get(ids.spanId))).toMatchObject(cases.map(([, , expected]) => expected));
  });
});

describe.concurrent("results of evaluations become scores of their span", () => {
  const event = "gen_ai.evaluation.result";
  const resultOf = (name: string): Row => ({
    "gen_ai.evaluation.name": name,
    "gen_ai.evaluation.score.value": 4.5,
    "gen_ai.evaluation.score.label": "pass",
    "gen_ai.evaluation.explanation": "It answers.",
    "gen_ai.response.id": "chatcmpl-1",
  });
  const scoresOf = (row: Row): Row[] => Object.values(row["scores"] as Record<string, Row>);
  const whenScored = (client: TestClient, ids: Ids, count: number): Promise<Row> =>
    whenSpan(client, ids, (row) => scoresOf(row).length >= count && "otel.events" in (row["metadata"] as Row));

  test.each([...arrivals, "on it"] as const)("that arrived %s, each one once", async (arrival) => {
    const ids = newIds();
    await other.post("/api/v2/traces", spanWithoutContent(ids));
    const send = async (...results: Row[]): Promise<unknown> => {
      const events = results.map((result) => ({ name: event, attributes: attributesOf(result) }));
      const records = results.map((result) => eventRecord(ids, event, result));
      return arrival === "on it"
        ? prod.post("/api/v2/traces", spanWithoutContent(ids, { events }))
        : sendBoth(prod, arrival, spanWithoutContent(ids), logsOf(...records));
    };
    const name = `Relevance-${randomHex(8)}`;
    await send(resultOf(name));
    const row = await whenScored(prod, ids, 1);
    const relevant = {
      evaluator_slug: name,
      evaluator_name: name,
      score_value_type: "numerical",
      numerical_value: 4.5,
      is_passed: true,
      explanation: "It answers.",
      status: "success",
    };
    const [first] = scoresOf(row);
    expect(first).toMatchObject(relevant);
    const retained = { "otel.events": [{ name: event, attributes: resultOf(name) }] };
    expect(row).toMatchObject({ status: "success", metadata: retained });

    await send(resultOf(name), resultOf(`${name}-2`));
    const scores = scoresOf(await whenScored(prod, ids, 2));
    expect(scores.toSorted((a, b) => String(a["evaluator_slug"]).localeCompare(String(b["evaluator_slug"])))).toEqual([
      first,
      expect.objectContaining({ evaluator_slug: `${name}-2` }),
    ]);
    await eventually(async () => {
      const { results } = await listSpans(prod, { [`scores__${name}`]: { operator: "gte", value: [4] } });
      return results.length === 1 || undefined;
    });
    expect(bodyOf(await prod.get(`/api/evaluators/${name}/`))).toMatchObject({
      type: "human",
      score_value_type: "numerical",
    });
    expect((await other.get(`/api/evaluators/${name}/`)).status).toBe(404);
    expect(bodyOf(await other.get("/api/scores/"))).toMatchObject({ count: 0 });
  });

  test.each([false, true])("and change nothing else in a gateway call (disable_log %s)", async (disable_log) => {
    const ids = newIds();
    const answer = await prod.post("/api/chat/completions", {
      model: "spanway/echo",
      messages: [{ role: "user", content: "Weather?" }],
      svc_params: { trace_unique_id: ids.traceId, span_unique_id: ids.spanId, metadata: { plan: "pro" }, disable_log },
    });
    const before = await retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));
    const records = [
      eventRecord(ids, event, resultOf("Calls")),
      // The gateway knows the results of its own calls.
      eventRecord(ids, "exception", { "exception.message": "503 busy" }),
      ...conversation(ids).resourceLogs[0]!.scopeLogs![0]!.logRecords!,
    ];
    await prod.post("/api/v1/logs", logsOf(...records));
    const after = await whenScored(prod, ids, 1);
    const metadata = { plan: "pro", "otel.events": [expect.anything(), expect.anything()] };
    expect(after).toEqual({ ...before, metadata, scores: expect.anything() });
  });

  test("of the evaluator with that name, with their value and whether they passed", async () => {
    const ids = newIds();
    const human = { type: "human", code_config: null };
    await newEvaluator(prod, { ...human, evaluator_slug: "polite", score_value_type: "boolean" });
    const passing_conditions = { primary_score: { operator: "gte", value: 3 } };
    await newEvaluator(prod, { ...human, evaluator_slug: "depth", passing_conditions });
    await newEvaluator(prod, { ...human, evaluator_slug: "short", score_config: { max_score: 1 } });
    const result = (evaluation: string, fields: Row) =>
      eventRecord(ids, event, { "gen_ai.evaluation.name": evaluation, ...fields });
    const results = [
      result("polite", { "gen_ai.evaluation.score.value": 0, "gen_ai.evaluation.score.label": "fail" }),
      result("depth", { "gen_ai.evaluation.score.value": "2.5" }),
      result("short", { "gen_ai.evaluation.score.value": 7 }),
      result("Tool Choice", { "gen_ai.evaluation.score.label": "relevant" }),
      result("depth-2", { "error.type": "timeout" }),
      result("", { "gen_ai.evaluation.score.value": 1 }),
    ];
    await sendBoth(prod, "after its span", spanWithoutContent(ids), logsOf(...results));
    const scores = scoresOf(await whenScored(prod, ids, 4));
    expect(new Map(scores.map((score) => [score["evaluator_slug"], score]))).toEqual(
      new Map(
        Object.entries({
          polite: { boolean_value: false, is_passed: false, status: "success" },
          depth: { numerical_value: 2.5, is_passed: false, status: "success" },
          short: { status: "failed", error_message: expect.stringContaining("must be from"), numerical_value: null },
          "Tool-Choice": {
            evaluator_name: "Tool Choice",
            string_value: "relevant",
            is_passed: null,
            status: "success",
          },
        }).map(([slug, fields]) => [slug, expect.objectContaining(fields)]),
      ),
    );
  });
});

test.concurrent.each(["chat", "stream", "tools"])(
  "openlit repeats its spans in logs: nothing changes (%s)",
  async (scenario) => {
    const { prod: own } = await app.newOrganization();
    const traces = fixture("captures", `openlit--${scenario}--default.traces.001.json`);
    const logs = fixture("captures", `openlit--${scenario}--default.logs.001.json`);
    await send(own, "/api/v2/traces", traces);
    const before = await storedSpans(own, { log_type: ["chat"] });
    expect((await send(own, "/api/v1/logs", logs)).text).toBe('{"partialSuccess":{}}');
    await sleep(2_000);
    expect(await storedSpans(own, { log_type: ["chat"] })).toEqual(before);
  },
);

test("logs without a span or without content are accepted and dropped", async () => {
  const answer = await prod.post(
    "/api/v1/logs",
    logsOf({ body: text("hello") }, { ...newIds(), eventName: "app.started" }),
  );
  expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
});

test("traces sent to the logs route get the right path in the error", async () => {
  const json = await prod.post("/api/v1/logs", spanWithoutContent(newIds()));
  expect(json.status).toBe(400);
  expect(json.json).toMatchObject({ message: expect.stringContaining("/api/v2/traces") });
  const span = {
    ...newIds(),
    name: "chat",
    startTimeUnixNano: "1700000000000000001",
    endTimeUnixNano: "1700000001500000002",
  };
  const traces = encodeTraces({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const binary = await prod.post("/api/v1/logs", new Uint8Array(traces), protobufType);
  expect([binary.status, binary.text]).toEqual([400, expect.stringContaining("/api/v2/traces")]);
});
