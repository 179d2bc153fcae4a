import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { encodeTraces } from "../support/otlp-encoder.ts";
import { attributesOf, protobufType, randomHex } from "../support/otlp.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, TestClient } from "../support/test-client.ts";

/** A journal that is smaller than one request. */
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_JOURNAL_MAX_BYTES: "1MiB" });
});
afterAll(() => app.stop());
let client: TestClient;
beforeEach(async () => {
  client = (await app.newOrganization()).prod;
});

const large = "x".repeat(3 * 2 ** 20);
const time = "1700000000000000000";

const traces = (input: string) => {
  const ids = { traceId: randomHex(32), spanId: randomHex(16) };
  const times = { startTimeUnixNano: time, endTimeUnixNano: time };
  const span = { ...ids, ...times, name: "span", attributes: attributesOf({ input }) as never };
  return encodeTraces({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
};

const call = (content: string): Promise<Answer> =>
  client.post("/api/chat/completions", { model: "spanway/echo", messages: [{ role: "user", content }] });

const sendings: Array<[string, (input: string) => Promise<Answer>]> = [
  ["span", (input) => client.post("/api/request-logs/", { input })],
  ["bulk request", (input) => client.post("/api/request-logs/bulk/", { logs: [{ input }] })],
  ["OTLP export", (input) => client.post("/api/v2/traces", new Uint8Array(traces(input)), protobufType)],
  ["gateway call", call],
];

test.each(sendings)(
  "a %s larger than the whole journal is stored completely, and so are later ones",
  async (_, send) => {
    expect((await send(large)).status).toBeLessThan(300);
    await client.waitForSpans(1);
    expect((await send("small")).status).toBeLessThan(300);
    const { count, results } = await client.waitForSpans(2, {}, { include_fields: "input" });
    expect(count).toBe(2);
    const sizes = results.map(({ input }) => JSON.stringify(input).length).sort((a, b) => a - b);
    expect(sizes[0]).toBeLessThan(1_000);
    expect(sizes[1]).toBeGreaterThan(large.length);
  },
);

test("calls behind one that is larger than the whole journal are recorded too", async () => {
  for (const input of ["small", large, "small", large, "small"]) expect((await call(input)).status).toBe(200);
  expect((await client.waitForSpans(5)).count).toBe(5);
});
