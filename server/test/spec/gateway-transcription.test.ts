import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import { gatewayLimits } from "../../src/gateway/limits.ts";
import { form, type Part } from "../support/form.ts";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, type SeenRequest } from "../support/scripted-upstream.ts";
import { testKeys } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

const sample = readFileSync(new URL("../fixtures/audio/sample1.mp3", import.meta.url));
const path = "/api/audio/transcription";
/** Duration of the sample, in seconds. */
const sampleSeconds = 10.109;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
  gateway.upstream.requests.length = 0;
  gateway.upstream.script(answers(200, { text: "Hello there." }));
});

const file: Part = ["file", sample, { name: "sample1.mp3", type: "audio/mpeg" }];
const model: Part = ["model", "whisper-1"];

async function send(parts: Part[], headers: Row = {}, to = path): Promise<Answer> {
  const { bytes, type } = form(...parts);
  return client.post(to, bytes, { "content-type": type, ...(headers as Record<string, string>) });
}

async function seen(request: SeenRequest | undefined): Promise<{ fields: Row; file: Buffer; fileName: string }> {
  const type = request?.headers["content-type"] ?? "";
  const data = await new Response(new Uint8Array(request?.bytes ?? []), {
    headers: { "content-type": type },
  }).formData();
  const sent = data.get("file") as File;
  const names = [...new Set(data.keys())].filter((name) => name !== "file");
  return {
    fields: Object.fromEntries(
      names.map((name) => [name, data.getAll(name).length > 1 ? data.getAll(name) : data.get(name)]),
    ),
    file: Buffer.from(await sent.arrayBuffer()),
    fileName: sent.name,
  };
}

/** Waits for the span of a call. */
async function span(answer: Answer): Promise<Row> {
  for (let tries = 0; ; tries += 1) {
    const { status, json } = await client.get(`/api/request-logs/${answer.headers.get("x-spanway-log-id")}/`);
    if (status === 200 || tries > 50) return json as Row;
    await sleep(20);
  }
}

const errorOf = (answer: Answer): Row => (answer.json as { error: Row }).error;

describe("the form", () => {
  test.each([
    path,
    `${path}/`,
    "/api/audio/transcriptions",
    "/api/audio/transcriptions/",
    "/v1/audio/transcriptions",
    "/audio/transcriptions",
  ])("is accepted on %s, with the file before all other fields, and is forwarded complete", async (to) => {
    const answer = await send([file, model, ["response_format", "json"], ["customer_identifier", "c1"]], {}, to);
    expect([answer.status, answer.text]).toEqual([200, '{"text":"Hello there."}']);
    const [request] = gateway.upstream.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/audio/transcriptions" });
    expect(request?.headers["authorization"]).toBe(`Bearer ${upstreamKey}`);
    const sent = await seen(request);
    expect(sent.fields).toEqual({ model: "whisper-1", response_format: "json" });
    expect([sent.fileName, sent.file.equals(sample)]).toEqual(["sample1.mp3", true]);
  });

  test("is accepted as fetch writes it, with lists by brackets, by repetition and by both", async () => {
    for (const name of ["timestamp_granularities[]", "timestamp_granularities"]) {
      const data = new FormData();
      data.append("model", "whisper-1");
      data.append("file", new File([new Uint8Array(sample)], 'söund "1".mp3', { type: "audio/mpeg" }));
      data.append("response_format", "verbose_json");
      data.append(name, "word");
      data.append(name, "segment");
      const body = new Response(data);
      const bytes = Buffer.from(await body.arrayBuffer());
      const answer = await client.post(path, bytes, { "content-type": body.headers.get("content-type") ?? "" });
      expect(answer.status).toBe(200);
      const sent = await seen(gateway.upstream.requests.at(-1));
      expect(sent.fields[name]).toEqual(["word", "segment"]);
      expect(sent.fileName).toMatch(/^söund .*1.*\.mp3$/);
    }
  });

  test("accepts service parameters in brackets, as JSON, nested and in a header, and sends none of them", async () => {
    const header = Buffer.from(JSON.stringify({ thread_identifier: "t1", customer_email: "header@x.test" })).toString(
      "base64",
    );
    const answer = await send(
      [
        ["metadata[a]", "b"],
        ["metadata[deep][c]", "d"],
        file,
        ["customer_identifier", "123"],
        ["svc_params", JSON.stringify({ customer_email: "nested@x.test", custom_identifier: "own" })],
        ["disable_log", "False"],
        ["language", "en"],
        model,
        ["temperature", "0.2"],
      ],
      { "x-data-svc-params": header },
    );
    expect(answer.status).toBe(200);
    expect((await seen(gateway.upstream.requests[0])).fields).toEqual({
      model: "whisper-1",
      language: "en",
      temperature: "0.2",
    });
    expect(await span(answer)).toMatchObject({
      metadata: { a: "b", deep: { c: "d" } },
      customer_identifier: "123",
      customer_email: "nested@x.test",
      custom_identifier: "own",
      thread_identifier: "t1",
    });
    const asJson = await send([file, model, ["metadata", '{"n":1,"flag":true}']]);
    expect(await span(asJson)).toMatchObject({ metadata: { n: 1, flag: true } });
  });

  test.each<[string, string, Part[]]>([
    ["no file", "file", [model]],
    ["an empty file", "file", [["file", "", { name: "a.mp3" }], model]],
    ["two files", "file", [file, file, model]],
    ["text in place of audio", "file", [["file", "hello", { name: "notes.txt", type: "text/plain" }], model]],
    ["a file under another name", "audio", [["audio", sample, { name: "a.mp3" }], model]],
    ["no model", "model", [file]],
    ["a model that does not transcribe", "model", [file, ["model", "gpt-4o"]]],
    ["an unknown response_format", "response_format", [file, model, ["response_format", "xml"]]],
    ["granularities of json", "timestamp_granularities", [file, model, ["timestamp_granularities[]", "word"]]],
    [
      "an unknown granularity",
      "timestamp_granularities",
      [file, model, ["response_format", "verbose_json"], ["timestamp_granularities[]", "letter"]],
    ],
    ["a temperature of 2", "temperature", [file, model, ["temperature", "2"]]],
    ["a temperature in words", "temperature", [file, model, ["temperature", "warm"]]],
    ["credentials that are none", "customer_credentials", [file, model, ["customer_credentials", "sk-1"]]],
    ["metadata of two kinds", "metadata[a][b]", [file, model, ["metadata[a]", "x"], ["metadata[a][b]", "y"]]],
  ])("with %s is a 400 that names %s", async (_what, param, parts) => {
    const answer = await send(parts);
    expect([answer.status, errorOf(answer)["param"]]).toEqual([400, param]);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  test("that is refused is recorded", async () => {
    const answer = await send([file, model, ["response_format", "xml"]]);
    expect(await span(answer)).toMatchObject({ log_type: "transcription", model: "whisper-1", status_code: 400 });
  });

  test.each(["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"])("accepts .%s", async (extension) => {
    expect((await send([["file", sample, { name: `A.${extension.toUpperCase()}` }], model])).status).toBe(200);
  });

  test("accepts a blob by its type, and gives it a name that providers know", async () => {
    expect((await send([["file", sample, { name: "blob", type: "audio/webm" }], model])).status).toBe(200);
    expect((await seen(gateway.upstream.requests[0])).fileName).toBe("blob.webm");
  });

  test("that is truncated or invalid is a 400", async () => {
    const { bytes, type } = form(file, model);
    for (const [body, contentType] of [
      [bytes.subarray(0, -20), type],
      [bytes, "multipart/form-data"],
      [bytes, "application/json"],
      [Buffer.from("--other\r\n"), type],
    ] as const) {
      expect((await client.post(path, body, { "content-type": contentType })).status).toBe(400);
    }
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});

describe("the response", () => {
  const verbose = {
    task: "transcribe",
    language: "english",
    duration: 12.5,
    text: "Hello there.",
    words: [{ word: "Hello", start: 0, end: 0.5 }],
    segments: [],
  };
  const texts: Array<[string, string]> = [
    ["text", "Hello there.\n"],
    ["srt", "1\n00:00:00,000 --> 00:00:01,000\nHëllo there.\n\n"],
    ["vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHëllo there.\n\n"],
  ];

  test.each(texts)(
    "of %s is the provider's bytes and type, with a breakdown only in a header",
    async (format, text) => {
      gateway.upstream.script(answers(200, text, { "content-type": "text/plain; charset=utf-8" }));
      const answer = await send([file, model, ["response_format", format], ["request_breakdown", "true"]]);
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const breakdown = JSON.parse(answer.headers.get("x-spanway-request-breakdown") ?? "") as Row;
      expect(breakdown).toMatchObject({ model: "whisper-1", status_code: 200, cached: false });
      expect(breakdown["cost"]).toBeCloseTo((sampleSeconds / 60) * 0.006, 5);
      expect(JSON.stringify(breakdown)).not.toContain("llo there");
      expect(await span(answer)).toMatchObject({ completion_message: { content: text } });
    },
  );

  test.each([
    ["json", { text: "Hello there.", usage: { type: "duration", seconds: 6 } }],
    ["verbose_json", verbose],
    ["diarized_json", { ...verbose, segments: [{ speaker: "A", text: "Hello there." }] }],
  ])("of %s is the provider's bytes, with a requested breakdown", async (format, reply) => {
    gateway.upstream.script(answers(200, reply));
    const plain = await send([file, model, ["response_format", format]]);
    expect(plain.text).toBe(JSON.stringify(reply));
    expect(plain.headers.get("x-spanway-request-breakdown")).toBeNull();
    const answered = await send([file, model, ["response_format", format], ["request_breakdown", "true"]]);
    const { request_breakdown, ...rest } = answered.json as Row;
    expect(rest).toEqual(reply);
    expect(request_breakdown).toMatchObject({
      model: "whisper-1",
      completion_message: { role: "assistant", content: "Hello there." },
      full_request: { model: "whisper-1", response_format: format },
    });
  });
});

describe("the record", () => {
  test("has the text, the file's description and a cost by duration", async () => {
    const answer = await send([file, model, ["prompt", "Names: Zoë"], ["language", "en"]]);
    const recorded = await span(answer);
    expect(recorded).toMatchObject({
      log_type: "transcription",
      model: "whisper-1",
      provider_id: "openai",
      status_code: 200,
      completion_message: { role: "assistant", content: "Hello there." },
      audio_input_file: { filename: "sample1.mp3", content_type: "audio/mpeg", bytes: sample.length },
    });
    expect(recorded["cost"]).toBeCloseTo((sampleSeconds / 60) * 0.006, 5);
    expect(JSON.stringify(recorded)).toContain("Zoë");
    expect((await client.waitForSpans(1)).count).toBe(1);
  });

  test.each<[string, Row, number | null]>([
    ["the time that the usage states", { usage: { type: "duration", seconds: 60 } }, 0.006],
    ["the time that verbose_json states", { duration: "30.0" }, 0.003],
    ["nothing for a model without a price", { model: "azure/my-whisper" }, null],
  ])("costs by %s", async (_what, { model: other, ...reply }, cost) => {
    gateway.upstream.script(answers(200, { text: "Hi.", ...reply }));
    const override = { azure: { api_key: "k", api_base: `${gateway.upstream.url}/openai/v1` } };
    const named: Part[] =
      other === undefined
        ? [model]
        : [
            ["model", "openai/my-whisper"],
            ["x", JSON.stringify(override)],
          ];
    const recorded = await span(await send([file, ...named, ["response_format", "verbose_json"]]));
    expect(recorded["cost"] ?? null).toEqual(cost);
  });

  test("is priced by tokens if the provider counts them", async () => {
    const usage = {
      type: "tokens",
      input_tokens: 100,
      input_token_details: { text_tokens: 20, audio_tokens: 80 },
      output_tokens: 10,
      total_tokens: 110,
    };
    gateway.upstream.script(answers(200, { text: "Hi.", usage }));
    const recorded = await span(await send([file, ["model", "gpt-4o-transcribe"]]));
    expect(recorded).toMatchObject({ prompt_tokens: 100, completion_tokens: 10 });
    expect(recorded["cost"]).toBeCloseTo((20 * 2.5 + 80 * 6 + 10 * 10) / 1e6, 9);
  });

  test("with disable_log contains only figures", async () => {
    const answer = await send([file, model, ["disable_log", "true"], ["prompt", "secret words"]]);
    const recorded = await span(answer);
    expect(recorded).toMatchObject({ log_type: "transcription", model: "whisper-1", status_code: 200 });
    expect(recorded["cost"]).toBeGreaterThan(0);
    for (const word of ["Hello there", "secret words", "sample1"]) expect(JSON.stringify(recorded)).not.toContain(word);
  });
});

describe("what fails", () => {
  test("is retried with the whole form", async () => {
    gateway.upstream.script(async (connection, request) => {
      const script =
        gateway.upstream.requests.length === 1
          ? answers(500, { error: { message: "oops" } })
          : answers(200, { text: "Hi." });
      return script(connection, request);
    });
    const answer = await send([
      file,
      model,
      ["retry_params", '{"retry_enabled":true,"num_retries":1,"retry_after":0.01}'],
    ]);
    expect([answer.status, answer.headers.get("x-spanway-attempts")]).toEqual([200, "2"]);
    const sent = await Promise.all(gateway.upstream.requests.map(seen));
    expect(sent.map(({ file: bytes, fields }) => [bytes.equals(sample), fields])).toEqual([
      [true, { model: "whisper-1" }],
      [true, { model: "whisper-1" }],
    ]);
    expect((await client.waitForSpans(1)).count).toBe(1);
  });

  test("falls back to another model", async () => {
    gateway.upstream.script(async (connection, request) => {
      const isFirst = (await seen(request)).fields["model"] === "whisper-1";
      return (isFirst ? answers(503, {}) : answers(200, { text: "Hi." }))(connection, request);
    });
    const answer = await send([file, model, ["retries", "0"], ["fallback_models", '["gpt-4o-transcribe"]']]);
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, "gpt-4o-transcribe"]);
  });

  test.each([
    [400, 400],
    [401, 424],
    [500, 424],
  ])("with %d upstream is a %d, recorded", async (status, answeredStatus) => {
    gateway.upstream.script(answers(status, { error: { message: "Told so", type: "x" } }));
    const answer = await send([file, model, ["retries", "0"]]);
    expect(answer.status).toBe(answeredStatus);
    expect(await span(answer)).toMatchObject({ status_code: answeredStatus, log_type: "transcription" });
  });

  test.each(["<html>", "{}", '{"error":{"message":"no"}}'])("with %s as a response is a 424", async (text) => {
    gateway.upstream.script(answers(200, text));
    expect((await send([file, model, ["retries", "0"]])).status).toBe(424);
  });

  test("a file that is too large is a 413 that names the limit, and the connection stays open", async () => {
    for (const bytes of [gatewayLimits.audioFileBytes + 1, apiLimits.audioFormBytes + 1]) {
      const answer = await send([["file", Buffer.alloc(bytes), { name: "a.wav" }], model]);
      expect([answer.status, errorOf(answer)["message"]]).toEqual([413, expect.stringContaining("25 MB")]);
    }
    expect((await send([["file", Buffer.alloc(gatewayLimits.audioFileBytes), { name: "a.wav" }], model])).status).toBe(
      200,
    );
    expect(gateway.upstream.requests).toHaveLength(1);
  });

  test("an incomplete upload is sent to no provider", async () => {
    const { bytes, type } = form(file, model);
    const { hostname, port } = new URL(gateway.app.url);
    const socket = connect(Number(port), hostname);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKeys.prod}\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, 60_000)]));
    await sleep(50);
    socket.destroy();
    await sleep(100);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  test("a disconnect of the caller aborts the upstream call, and is recorded", async () => {
    gateway.upstream.script(async (connection) => {
      await connection.closed(5_000);
      return "close" as const;
    });
    const { bytes, type } = form(file, model, ["custom_identifier", "gone"]);
    const leaving = new AbortController();
    const sent = fetch(new URL(path, gateway.app.url), {
      method: "POST",
      headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": type },
      body: new Uint8Array(bytes),
      signal: leaving.signal,
    }).catch(() => undefined);
    while (gateway.upstream.requests.length === 0) await sleep(5);
    const leftAtMs = Date.now();
    leaving.abort();
    await sent;
    const [request] = gateway.upstream.requests;
    while (request?.closedAtMs() === undefined && Date.now() - leftAtMs < 2_000) await sleep(5);
    expect((request?.closedAtMs() ?? Number.POSITIVE_INFINITY) - leftAtMs).toBeLessThan(2_000);
    const filters = { custom_identifier: { operator: "", value: ["gone"] } };
    const { results } = await gateway.app.prod.waitForSpans(1, filters);
    expect(results).toMatchObject([{ status_code: 499, log_type: "transcription" }]);
  });
});

test("a customer beyond the budget is refused, which is logged without a provider call", async () => {
  const customer: Part = ["customer_params", JSON.stringify({ customer_identifier: "broke", total_budget: 0 })];
  const refused = await send([file, model, customer]);
  expect(refused).toMatchObject({ status: 429, json: { error: { type: "budget_exceeded" } } });
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect(gateway.upstream.requests).toHaveLength(0);
  const { results } = await client.waitForSpans(1);
  expect(results).toMatchObject([
    { log_type: "transcription", status_code: 429, customer_identifier: "broke", cost: 0 },
  ]);
});
