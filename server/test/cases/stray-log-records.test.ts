import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attributesOf } from "../support/otlp.ts";
import type { JsonLogRecord } from "../support/otlp-encoder.ts";
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
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
});
afterAll(() => app.stop());

describe("S11: details of a call that name the span around it", () => {
  const message = {
    prompt_messages: [{ role: "user", content: "Weather?" }],
    completion_message: { role: "assistant", content: "Sunny." },
  };
  const around = (ids: Ids, attributes: Row): Row => ({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                ...ids,
                name: "weather_workflow",
                startTimeUnixNano: "1700000000000000000",
                endTimeUnixNano: "1700000009000000000",
                attributes: attributesOf(attributes),
              },
            ],
          },
        ],
      },
    ],
  });
  const detailsOf = (ids: Ids, timeUnixNano: string, model: string): JsonLogRecord => ({
    ...eventRecord(ids, "gen_ai.client.inference.operation.details", {
      "gen_ai.request.model": model,
      "user.id": "u1",
      "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: "Weather?" }] }]),
      "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: "Sunny." }] }]),
    }),
    timeUnixNano,
  });

  test.each(arrivals)("belong to its call, %s: the workflow stays a workflow", async (arrival) => {
    const workflow = newIds();
    const call = { ...newIds(), traceId: workflow.traceId };
    const other = { ...newIds(), traceId: workflow.traceId };
    const later = { startTimeUnixNano: "1700000005000000000", endTimeUnixNano: "1700000006000000000" };
    const details = logsOf(detailsOf(workflow, "1700000001500000001", "gpt-4o-mini"));
    await prod.post("/api/v2/traces", spanWithoutContent(other, { parentSpanId: workflow.spanId, ...later }));
    await prod.post("/api/v2/traces", spanWithoutContent(call, { parentSpanId: workflow.spanId }));
    await sendBoth(prod, arrival, around(workflow, { plan: "pro" }), details);
    const row = await whenSpan(prod, call, ({ completion_message: message }) => message !== null);
    expect(row).toMatchObject({ ...message, log_type: "chat", total_tokens: 74, customer_identifier: "u1" });
    const unstated = { prompt_messages: null, completion_message: null };
    expect(await whenSpan(prod, workflow, () => true)).toMatchObject({ log_type: "workflow", ...unstated });
    expect(await whenSpan(prod, other, () => true)).toMatchObject({ log_type: "chat", ...unstated });
  });
});
