import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture, protobufType, randomHex, send, storedSpans, throughOtlp, traceOf } from "../support/otlp.ts";
import { encodeLogs, encodeTraces, type JsonSpan, type JsonTraces } from "../support/otlp-encoder.ts";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

const path = "/api/v2/traces";
const spanOf = (more: Row = {}): JsonSpan => ({
  traceId: randomHex(32),
  spanId: randomHex(16),
  name: "span",
  startTimeUnixNano: "1700000000000000000",
  endTimeUnixNano: "1700000001500000000",
  ...more,
});
const tracesOf = (...spans: JsonSpan[]): JsonTraces => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const protobuf = (traces: JsonTraces): Uint8Array => new Uint8Array(encodeTraces(traces));
const post = (body: unknown, headers?: Record<string, string>, to = path): Promise<Answer> =>
  prod.post(to, body, headers);

describe("POST /api/v2/traces ingests traces over OTLP/HTTP (JSON or protobuf)", () => {
  test("200 when spans are accepted, with the body that exporters do not warn about", async () => {
    const json = await post(tracesOf(spanOf()));
    expect([json.status, json.text]).toEqual([200, '{"partialSuccess":{}}']);
    const binary = await post(protobuf(tracesOf(spanOf())), protobufType);
    expect([binary.status, binary.text, binary.headers.get("content-type")]).toEqual([
      200,
      "",
      "application/x-protobuf",
    ]);
  });

  test.each(["/api/v1/traces", "/api/v2/traces/", "/api/v2/traces/v1/traces", "/v1/traces", "/api/v1/traces/"])(
    "is available at %s too",
    async (alias) => {
      const span = spanOf();
      expect((await post(tracesOf(span), {}, alias)).status).toBe(200);
      expect(await storedSpans(prod, { span_unique_id: [span.spanId] })).toHaveLength(1);
    },
  );

  test("resourceSpans is required: 400 (malformed payload) in the form of google.rpc.Status", async () => {
    const answer = await post({});
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ code: 3, message: expect.stringContaining("resourceSpans"), details: [] });
  });

  test("401 without a credential, readable in the request's encoding", async () => {
    const anonymous = await fetch(new URL(path, app.url), {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(anonymous.status).toBe(401);
    expect(await anonymous.json()).toMatchObject({ code: 16, message: expect.any(String) });
    const binary = await fetch(new URL(path, app.url), { method: "POST", headers: protobufType, body: "" });
    expect([binary.status, binary.headers.get("content-type")]).toEqual([401, "application/x-protobuf"]);
    expect(Buffer.from(await binary.arrayBuffer()).subarray(0, 2)).toEqual(Buffer.from([0x08, 16]));
  });

  test("an error for a protobuf request is in protobuf", async () => {
    const answer = await post(Buffer.from([0x0a, 0x7f, 0x00]), protobufType);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/x-protobuf"]);
    expect(answer.text).toContain("ends too early");
  });
});

describe("transport", () => {
  test.each(["application/json; charset=utf-8", "Application/JSON"])("JSON as %j", async (type) => {
    const span = spanOf();
    expect((await post(tracesOf(span), { "content-type": type })).status).toBe(200);
    expect(await storedSpans(prod, { span_unique_id: [span.spanId] })).toHaveLength(1);
  });

  test.each(["application/protobuf", "application/x-protobuf; charset=utf-8"])("protobuf as %j", async (type) => {
    const span = spanOf();
    expect((await post(protobuf(tracesOf(span)), { "content-type": type })).status).toBe(200);
    expect(await storedSpans(prod, { span_unique_id: [span.spanId] })).toHaveLength(1);
  });

  test("without a media type, the first byte decides", async () => {
    const spans = [spanOf(), spanOf()];
    const bare = async (body: Uint8Array): Promise<Array<string | number | null>> => {
      const answer = await fetch(new URL(path, app.url), {
        method: "POST",
        headers: { authorization: `Bearer ${testKeys.prod}` },
        body: new Uint8Array(body),
      });
      return [answer.status, answer.headers.get("content-type"), await answer.text()];
    };
    const json = new Uint8Array(Buffer.from(` ${JSON.stringify(tracesOf(spans[0]!))}`));
    expect(await bare(json)).toEqual([200, "application/json; charset=utf-8", '{"partialSuccess":{}}']);
    expect(await bare(protobuf(tracesOf(spans[1]!)))).toEqual([200, "application/x-protobuf", ""]);
    expect(await storedSpans(app.prod, { span_unique_id: spans.map((span) => span.spanId) })).toHaveLength(2);
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["zstd", zstdCompressSync],
    ["identity", (bytes: Buffer) => bytes],
  ] as const)("compressed with %s", async (encoding, compress) => {
    const spans = [spanOf(), spanOf()];
    const json = compress(Buffer.from(JSON.stringify(tracesOf(spans[0]!))));
    const binary = compress(encodeTraces(tracesOf(spans[1]!)));
    expect((await post(new Uint8Array(json), { "content-encoding": encoding })).status).toBe(200);
    expect((await post(new Uint8Array(binary), { ...protobufType, "content-encoding": encoding })).status).toBe(200);
    expect(await storedSpans(prod, { span_unique_id: spans.map((span) => span.spanId) })).toHaveLength(2);
  });

  test.each([
    ["another media type", { "content-type": "text/csv" }],
    ["what is no media type", { "content-type": "protobuf" }],
    ["an unknown compression", { "content-encoding": "snappy" }],
    ["compressed twice", { "content-encoding": "gzip, gzip" }],
  ])("415 for %s", async (_name, headers) => {
    const answer = await post(JSON.stringify(tracesOf(spanOf())), headers);
    expect([answer.status, answer.json]).toEqual([415, { code: 3, message: expect.any(String), details: [] }]);
  });

  test("an empty export is 200 in both encodings", async () => {
    expect((await post(new Uint8Array(), protobufType)).status).toBe(200);
    expect((await post({ resourceSpans: [] })).status).toBe(200);
  });

  test("a resent batch is the same spans", async () => {
    const traces = tracesOf(spanOf({ attributes: [] }), spanOf());
    for (let time = 0; time < 3; time += 1) expect((await post(traces)).status).toBe(200);
    const ids = traces.resourceSpans[0]!.scopeSpans![0]!.spans!.map((span) => span.spanId);
    expect(await storedSpans(prod, { span_unique_id: ids })).toHaveLength(2);
  });
});

describe("one invalid span does not affect the others", () => {
  test("it is counted in partialSuccess, with the reason", async () => {
    const span = spanOf();
    const traces = tracesOf(span, spanOf({ spanId: "" }), spanOf({ traceId: "0".repeat(32) }));
    const json = await post(traces);
    expect([json.status, json.json]).toEqual([
      200,
      { partialSuccess: { rejectedSpans: 2, errorMessage: expect.stringMatching(/spanId must.*traceId must/) } },
    ]);
    const binary = await post(protobuf(traces), protobufType);
    expect(binary.status).toBe(200);
    expect(Buffer.from(binary.text).subarray(2, 4)).toEqual(Buffer.from([0x08, 2]));
    expect(await storedSpans(prod, { span_unique_id: [span.spanId] })).toHaveLength(1);
  });

  test("400 when none is left; a logs export gets the right path in the error", async () => {
    const logs = encodeLogs({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: "hi" } }] }] }] });
    const answer = await post(new Uint8Array(logs), protobufType);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("/api/v1/logs");
  });

  test("odd values: ten spans in, ten spans stored", async () => {
    const odd = [
      { doubleValue: null },
      { doubleValue: "NaN" },
      { doubleValue: "Infinity" },
      {},
      { arrayValue: { values: [null, { intValue: 1 }] } },
      { kvlistValue: { values: [{ key: "a" }] } },
      { boolValue: "true" },
      null,
      { stringValue: "\ud83d" },
      { stringValue: "a\u0000b" },
    ];
    const traceId = randomHex(32);
    const spans = odd.map((value) => ({ ...spanOf({ traceId }), attributes: [{ key: "odd", value }] }));
    expect((await post({ resourceSpans: [{ scopeSpans: [{ spans }] }] })).text).toBe('{"partialSuccess":{}}');
    const stored = await storedSpans(prod, { trace_unique_id: [traceId] });
    expect(stored).toHaveLength(10);
    const bySpan = new Map(stored.map((row) => [row["span_unique_id"], (row["metadata"] as Row)["odd"]]));
    expect(spans.map((span) => bySpan.get(span.spanId) ?? null)).toEqual([
      null,
      "NaN",
      "Infinity",
      null,
      [null, 1],
      { a: null },
      true,
      null,
      "\uFFFD",
      "a\uFFFDb",
    ]);
  });

  test("text that is not UTF-8 is stored with U+FFFD", async () => {
    const span = spanOf({ name: "bad XX text" });
    const bytes = protobuf(tracesOf(span));
    // Searches the whole name, because ids are random bytes and may contain any pair.
    bytes[Buffer.from(bytes).indexOf("bad XX text") + 4] = 0xff;
    expect((await post(bytes, protobufType)).status).toBe(200);
    expect(await storedSpans(prod, { span_unique_id: [span.spanId] })).toMatchObject([
      { span_name: "bad \uFFFDX text" },
    ]);
  });
});

describe("hostile keys", () => {
  test("are ordinary keys, affect nothing else, and take bounded time", async () => {
    const attributes: Row = {
      "__proto__.polluted": "x",
      "constructor.prototype.x": "y",
      "gen_ai.prompt.9999999.content": "late",
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "first",
      "gen_ai.prompt.-1.role": "user",
      "gen_ai.prompt.0.__proto__.a": "z",
      "respan.metadata": '{"__proto__":{"polluted":true},"plan":"pro"}',
    };
    const row = await throughOtlp(prod, traceOf(attributes));
    expect(row["prompt_messages"]).toEqual([
      { role: "user", content: "first" },
      { role: "user", content: "late" },
    ]);
    expect(row["metadata"]).toMatchObject({
      "constructor.prototype.x": "y",
      plan: "pro",
      "gen_ai.prompt.-1.role": "user",
    });
    expect(({} as Row)["polluted"]).toBeUndefined();
  });

  test("a hundred thousand indices", async () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, n) => [`gen_ai.prompt.${n * 7}.content`, "x"]),
    );
    const startedMs = performance.now();
    const span = spanOf();
    const answer = await post(traceOf(attributes, span));
    expect(answer.status).toBe(200);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    expect((await post(tracesOf(spanOf()))).status).toBe(200);
  });
});

/** The response to each hand-made file, and the stored spans. */
const synthetic: Record<string, { status: number; stored?: Row[] }> = {
  "bad-array.json": { status: 400 },
  "bad-corrupt.json.gz": { status: 400 },
  "bad-logs-payload.json": { status: 400 },
  "bad-nonhex-id.json": { status: 400 },
  "bad-resourceSpans-object.json": { status: 400 },
  "bad-short-trace-id.json": { status: 400 },
  "bad-truncated.json": { status: 400 },
  "bad-zero-ids.json": { status: 400 },
  "bomb-100MB.json.gz": { status: 413 },
  "lenient-enum-strings.json": {
    status: 200,
    stored: [{ status: "failed", status_code: 500, error_message: "boom", metadata: { "otel.span.kind": "client" } }],
  },
  "lenient-instrumentation-library-spans.json": { status: 200, stored: [{ metadata: { "otel.scope.name": "old" } }] },
  "lenient-snake-case.json": { status: 200, stored: [{ span_name: "op", latency: 1, metadata: { k: "v" } }] },
  "ok-all-value-types.json": {
    status: 200,
    stored: [
      {
        // Empty values are omitted.
        metadata: { b: false, i: -42, i2: 42, d: 1.5, dint: 1, arr: ["x", 1, []] },
      },
    ],
  },
  "ok-empty-object.json": { status: 400 },
  "ok-empty-parent.json": { status: 200, stored: [{ span_parent_id: null }] },
  "ok-empty-request.json": { status: 200, stored: [] },
  "ok-empty-scope.json": { status: 200, stored: [] },
  "ok-end-before-start.json": { status: 200, stored: [{ latency: 0 }] },
  "ok-minimal.json": {
    status: 200,
    stored: [
      {
        trace_unique_id: "0af7651916cd43dd8448eb211c80319c",
        span_unique_id: "b7ad6b7169203331",
        span_name: "op",
        log_type: "chat",
        log_method: "tracing_integration",
        model: "gpt-4o",
        latency: 1.5,
        status: "success",
        status_code: 200,
        metadata: { "service.name": "synthetic", "otel.scope.name": "manual" },
      },
    ],
  },
  "ok-no-attributes.json": { status: 200, stored: [{ log_type: "workflow", latency: 1.5 }] },
  "ok-numeric-nanos.json": { status: 200, stored: [{ start_time: "2023-11-14T22:13:20.000Z", latency: 1.5 }] },
  "ok-proto-key.json": { status: 200, stored: [{ metadata: { constructor: "y" } }] },
  "ok-unknown-fields.json": { status: 200, stored: [{ metadata: { k: "v" } }] },
  "ok-uppercase-hex-ids.json": {
    status: 200,
    stored: [{ trace_unique_id: "0af7651916cd43dd8448eb211c80319c", span_unique_id: "b7ad6b7169203331" }],
  },
  "ok-zero-end.json": { status: 200, stored: [{ start_time: "2023-11-14T22:13:20.000Z" }] },
  "ok-zero-parent.json": { status: 200, stored: [{ span_parent_id: null }] },
  "partial-one-bad-span.json": { status: 200, stored: [{ span_name: "op" }] },
};

function rejectedBy({ json }: Answer): number {
  return (json as { partialSuccess?: { rejectedSpans?: number } }).partialSuccess?.rejectedSpans ?? 0;
}

describe("hand-made edge cases", () => {
  test.each(Object.entries(synthetic))("%s", async (name, { status, stored }) => {
    const { prod: own } = await app.newOrganization();
    const answer = await send(own, path, fixture("synthetic", name));
    expect([answer.status, answer.text.length < 1000]).toEqual([status, true]);
    expect(rejectedBy(answer)).toBe(name.startsWith("partial") ? 1 : 0);
    const rows = await storedSpans(own, { log_type: { operator: "not", value: ["marker"] } });
    expect(rows).toMatchObject(stored ?? []);
    expect(rows).toHaveLength(stored?.length ?? 0);
  });

  test("integers beyond 2^53 keep their digits", async () => {
    const { prod: own } = await app.newOrganization();
    await send(own, path, fixture("synthetic", "ok-all-value-types.json"));
    const [row] = await storedSpans(own, { span_unique_id: ["b7ad6b7169203331"] });
    const text = (await own.get(`/api/request-logs/${String(row?.["unique_id"])}/`)).text;
    expect(text).toContain("9007199254740993");
  });
});

describe("exports of Python SDKs, read back over the API", () => {
  const openAiUsage = {
    prompt_tokens: 57,
    completion_tokens: 17,
    total_tokens: 74,
    prompt_tokens_details: { cached_tokens: 32 },
    completion_tokens_details: { reasoning_tokens: 5 },
  };
  const call = { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
  const answer = { role: "assistant", content: null, tool_calls: [call] };
  const question = [{ role: "user", content: "Weather?" }];
  const counts = { prompt_tokens: 57, completion_tokens: 17, total_tokens: 74, prompt_cache_hit_tokens: 32 };

  test.each([
    [
      "Langfuse",
      "langfuse-sdk",
      {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": JSON.stringify(question),
        "langfuse.observation.output": JSON.stringify(answer),
        "langfuse.observation.usage_details": JSON.stringify(openAiUsage),
      },
    ],
    [
      "LangSmith",
      "langsmith",
      {
        "langsmith.span.kind": "llm",
        "gen_ai.operation.name": "chat",
        "gen_ai.prompt": JSON.stringify({ messages: question, model: "gpt-4o-mini" }),
        "gen_ai.completion": JSON.stringify({
          choices: [{ message: answer }],
          usage_metadata: {
            input_tokens: 57,
            output_tokens: 17,
            total_tokens: 74,
            input_token_details: { cache_read: 32 },
          },
        }),
      },
    ],
    [
      "MLflow",
      "mlflow",
      {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanInputs": JSON.stringify({ messages: question }),
        "mlflow.spanOutputs": JSON.stringify({ choices: [{ message: answer }] }),
        "mlflow.chat.tokenUsage": JSON.stringify({ input_tokens: 57, output_tokens: 17, cache_read_input_tokens: 32 }),
      },
    ],
  ])("%s", async (_name, scope, attributes) => {
    const row = await throughOtlp(prod, traceOf(attributes, {}, scope));
    expect(row).toMatchObject({ log_type: "chat", prompt_messages: question, completion_message: answer, ...counts });
    expect(row["tool_calls"]).toEqual([call]);
  });
});

describe("the other signals", () => {
  test.each(["/api/v1/metrics", "/v1/metrics"])("metrics at %s are accepted and dropped", async (metrics) => {
    expect((await post({ resourceMetrics: [] }, {}, metrics)).text).toBe('{"partialSuccess":{}}');
    const binary = await post(Buffer.from([0x0a, 0x00]), protobufType, metrics);
    expect([binary.status, binary.text]).toEqual([200, ""]);
  });
});
