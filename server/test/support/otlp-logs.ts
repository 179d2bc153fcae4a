import { expect } from "vitest";
import { eventually } from "./evaluation.ts";
import { attributesOf, randomHex } from "./otlp.ts";
import type { JsonLogRecord, JsonLogs } from "./otlp-encoder.ts";
import { retrieveSpan } from "./spans.ts";
import type { Row, TestClient } from "./test-client.ts";

/** Steps of tests of log records that describe spans. */

export type Ids = { traceId: string; spanId: string };
export const newIds = (): Ids => ({ traceId: randomHex(32), spanId: randomHex(16) });

/** A span as official instrumentations send it, without messages. */
export const spanWithoutContent = (ids: Ids, span: Row = {}): Row => ({
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
              ...span,
            },
          ],
        },
      ],
    },
  ],
});

export const logsOf = (...logRecords: JsonLogRecord[]): JsonLogs => ({
  resourceLogs: [{ scopeLogs: [{ logRecords }] }],
});

export type Arrival = "after its span" | "before its span";
export const arrivals: Arrival[] = ["after its span", "before its span"];

/** Sends a span and its records, in either order. */
export async function sendBoth(client: TestClient, arrival: Arrival, span: Row, logs: JsonLogs): Promise<void> {
  const posts = [() => client.post("/api/v2/traces", span), () => client.post("/api/v1/logs", logs)];
  for (const post of arrival === "after its span" ? posts : posts.toReversed()) {
    const answer = await post();
    expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
  }
}

/** The span, once it matches. */
export function whenSpan(client: TestClient, { spanId }: Ids, isSo: (row: Row) => boolean): Promise<Row> {
  return eventually(async () => {
    const { results } = await client.list({ span_unique_id: [spanId] });
    return results.length === 1 && isSo(results[0]!) ? retrieveSpan(client, results[0]!["unique_id"]) : undefined;
  }, 30_000);
}

/** An event in the form of OpenTelemetry's logs: attributes, no body. */
export const eventRecord = (ids: Ids, eventName: string, attributes: Row, fields: Partial<JsonLogRecord> = {}) => ({
  ...ids,
  timeUnixNano: "1700000001000000000",
  eventName,
  attributes: attributesOf(attributes) as JsonLogRecord["attributes"] & object,
  ...fields,
});
