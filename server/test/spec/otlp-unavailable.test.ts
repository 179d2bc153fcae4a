import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attributesOf, protobufType, randomHex } from "../support/otlp.ts";
import { encodeLogs, encodeTraces, type JsonLogs, type JsonTraces } from "../support/otlp-encoder.ts";
import { startWithFullJournal } from "../support/full-journal.ts";
import type { TestApp } from "../support/test-app.ts";
import type { Answer } from "../support/test-client.ts";

/** Exporters retry after 503 and few other statuses; a 500 or a 4xx loses data. */
let app: TestApp;
beforeAll(async () => {
  app = await startWithFullJournal();
});
afterAll(() => app.stop());

const time = "1700000000000000000";

const traces = (text: string): JsonTraces => ({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: randomHex(32),
              spanId: randomHex(16),
              name: "span",
              startTimeUnixNano: time,
              endTimeUnixNano: time,
              attributes: attributesOf({ input: text }) as never,
            },
          ],
        },
      ],
    },
  ],
});

/** An agent's event that becomes a span. */
const logs = (text: string): JsonLogs => ({
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: time,
              eventName: "codex.user_prompt",
              attributes: attributesOf({ prompt: text, "conversation.id": randomHex(8) }) as never,
            },
          ],
        },
      ],
    },
  ],
});

describe.each([
  ["/api/v2/traces", traces, (text: string) => encodeTraces(traces(text))],
  ["/api/v1/logs", logs, (text: string) => encodeLogs(logs(text))],
] as const)("%s while the journal is full", (path, json, protobuf) => {
  const post = (body: unknown, headers?: Record<string, string>): Promise<Answer> => app.prod.post(path, body, headers);

  test("is 503 in JSON, with Retry-After", async () => {
    const answer = await post(json("text"));
    expect([answer.status, answer.json]).toEqual([503, { code: 14, message: expect.any(String), details: [] }]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("is 503 in protobuf, with Retry-After", async () => {
    const answer = await post(new Uint8Array(protobuf("text")), protobufType);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([503, "application/x-protobuf"]);
    // A google.rpc.Status: field 1 is the code, 14 is UNAVAILABLE.
    expect([...Buffer.from(answer.text, "latin1").subarray(0, 2)]).toEqual([0x08, 14]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
