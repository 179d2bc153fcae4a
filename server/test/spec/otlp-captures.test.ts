import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeJsonTraces } from "../../src/ingest/otlp/decode-json.ts";
import { decodeProtobufTraces } from "../../src/ingest/otlp/decode-protobuf.ts";
import { expectedSpans } from "../fixtures/otlp/expected-spans.ts";
import { fixture, fixtureNames, send, wholeSpans, type Fixture } from "../support/otlp.ts";
import { inAnyOrder, summarizeSpan, type SpanSummary } from "../support/otlp-summary.ts";
import { settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer } from "../support/test-client.ts";

/** Every body that a real SDK sent is posted unchanged, and read back through the API. */
const names = fixtureNames("captures").filter((name) => name.includes(".traces."));

let app: TestApp;
const answers = new Map<string, Answer>();
beforeAll(async () => {
  app = await startTestApp();
  for (const name of names) answers.set(name, await send(app.prod, "/api/v2/traces", fixture("captures", name)));
  await settle(app.prod);
}, 60_000);
afterAll(() => app.stop());

test("every scenario has its fixtures, and every fixture its scenario", () => {
  expect([...new Set(names.map(scenarioOf))]).toEqual(Object.keys(expectedSpans));
});

test.each(names)("%s", async (name) => {
  const sent = fixture("captures", name);
  const answer = answers.get(name);
  expect([answer?.status, answer?.text]).toEqual([200, name.includes(".pb") ? "" : '{"partialSuccess":{}}']);
  const rows = await wholeSpans(app.prod, { trace_unique_id: traceIds(sent) });
  const stored = rows.map((row) => summarizeSpan(row, rows)).map(withoutTiming);
  expect(inAnyOrder(stored)).toEqual(inAnyOrder(expectedSpans[scenarioOf(name)] ?? []));
});

function scenarioOf(name: string): string {
  return name.split("--").slice(0, 2).join("--");
}

/**
 * The manual span of this scenario starts and gets its first token within a millisecond: whether it is a stream is
 * random.
 */
function withoutTiming(span: SpanSummary): SpanSummary {
  const { streamed, ...rest } = span;
  return span.name === "manual-gen" || streamed === undefined ? rest : { ...rest, streamed };
}

function traceIds({ name, body, headers }: Fixture): string[] {
  const bytes = headers["content-encoding"] === undefined ? Buffer.from(body) : gunzipSync(body);
  const request = name.includes(".json") ? decodeJsonTraces(bytes) : decodeProtobufTraces(bytes);
  return [...new Set(request.groups.flatMap((group) => group.items.map((span) => span.traceId)))];
}
