import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { attributesOf, fixture, protobufType, randomHex, send, storedSpans } from "../support/otlp.ts";
import { encodeLogs, encodeTraces, type JsonLogRecord, type JsonLogs } from "../support/otlp-encoder.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
});
afterAll(() => app.stop());

type Ids = { traceId: string; spanId: string };
const newIds = (): Ids => ({ traceId: randomHex(32), spanId: randomHex(16) });

/** A span as official instrumentations send it: all but what was said. */
const spanWithoutContent = (ids: Ids): Row => ({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              ...ids,
              name: "chat gpt-4o-mini",
              startTimeUnixNano: "1700000000000000001",
              endTimeUnixNano: "1700000001500000002",
              attributes: attributesOf({
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4o-mini",
                "gen_ai.usage.input_tokens": 57,
                "gen_ai.usage.output_tokens": 17,
                plan: "pro",
              }),
            },
          ],
        },
      ],
    },
  ],
});

const logsOf = (...logRecords: JsonLogRecord[]): JsonLogs => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
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

describe("log events that hold what was said complete their span", () => {
  test("when they come after it", async () => {
    const ids = newIds();
    expect((await prod.post("/api/v2/traces", spanWithoutContent(ids))).status).toBe(200);
    const answer = await prod.post("/api/v1/logs", conversation(ids));
    expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
    const rows = await joined(prod, ids);
    expect(rows).toMatchObject([whole]);
    expect(rows[0]?.["cost"]).toBeCloseTo(18.75e-6, 10);
  });

  test("when they come before it", async () => {
    const ids = newIds();
    await prod.post("/api/v1/logs", conversation(ids));
    await prod.post("/api/v2/traces", spanWithoutContent(ids));
    expect(await joined(prod, ids)).toMatchObject([whole]);
  });

  test("when they come one by one, around it", async () => {
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
    const { prod: other } = await app.newOrganization();
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

test.each(["chat", "stream", "tools"])(
  "openlit repeats in logs what its spans say: nothing changes (%s)",
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

test("logs that belong to no span, or say nothing, are taken and dropped", async () => {
  const answer = await prod.post(
    "/api/v1/logs",
    logsOf({ body: text("hello") }, { ...newIds(), eventName: "app.started" }),
  );
  expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
});

test("traces sent to the logs route are told where to go", async () => {
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
