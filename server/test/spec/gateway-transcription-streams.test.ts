import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { form, type Part } from "../support/form.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

const sample = readFileSync(new URL("../fixtures/audio/sample1.mp3", import.meta.url));
const file: Part = ["file", sample, { name: "sample1.mp3", type: "audio/mpeg" }];

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

async function send(parts: Part[]): Promise<Answer> {
  const { bytes, type } = form(...parts);
  return client.post("/v1/audio/transcriptions", bytes, { "content-type": type });
}

describe("a stream", () => {
  const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const delta = (text: string): string => event({ type: "transcript.text.delta", delta: text });
  const usage = {
    type: "tokens",
    input_tokens: 20,
    input_token_details: { audio_tokens: 20, text_tokens: 0 },
    output_tokens: 5,
    total_tokens: 25,
  };
  const ended = event({ type: "transcript.text.done", text: "Hello there.", usage });
  const parts: Part[] = [file, ["model", "gpt-4o-transcribe"], ["stream", "true"], ["customer_identifier", "ann"]];
  const spanOf = async (): Promise<Row> => {
    const { results, count } = await client.waitForSpans(1);
    expect(count).toBe(1);
    return (await client.get(`/api/request-logs/${String(results[0]?.["unique_id"])}/`)).json as Row;
  };

  test("is passed on byte for byte, and is one span with its text and usage", async () => {
    const text = delta("Hel") + delta("lo there.") + ended;
    gateway.upstream.script(
      streams(
        ...Array.from(Buffer.from(text), (byte) => Buffer.from([byte])).slice(0, 40),
        Buffer.from(text).subarray(40),
      ),
    );
    const answer = await send(parts);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(answer.text).toBe(text);
    const requests = gateway.upstream.requests[0];
    const read = new Response(new Uint8Array(requests?.bytes ?? []), {
      headers: { "content-type": requests?.headers["content-type"] ?? "" },
    });
    expect([...(await read.formData()).entries()].filter(([name]) => name !== "file")).toEqual([
      ["model", "gpt-4o-transcribe"],
      ["stream", "true"],
    ]);
    expect(await spanOf()).toMatchObject({
      log_type: "transcription",
      stream: true,
      status_code: 200,
      customer_identifier: "ann",
      prompt_tokens: 20,
      completion_tokens: 5,
      time_to_first_token: expect.any(Number),
      completion_message: { content: "Hello there." },
    });
  });

  test("ends with the requested breakdown", async () => {
    gateway.upstream.script(streams(delta("Hello there."), ended));
    const answer = await send([...parts, ["request_breakdown", "true"]]);
    const last = answer.text.slice((delta("Hello there.") + ended).length);
    expect(JSON.parse(last.slice(6))).toMatchObject({
      type: "request_breakdown",
      request_breakdown: { prompt_tokens: 20, stream: true },
    });
  });

  test("that is truncated ends in an error event, and is recorded with the partial text", async () => {
    gateway.upstream.script(streams(delta("Hel")));
    const answer = await send(parts);
    expect([answer.status, answer.text.startsWith(delta("Hel"))]).toEqual([200, true]);
    expect(JSON.parse(answer.text.slice(delta("Hel").length + 6))).toMatchObject({ error: { type: "upstream_error" } });
    expect(await spanOf()).toMatchObject({ status_code: 424, completion_message: { content: "Hel" } });
  });

  test("that fails before any content falls back", async () => {
    let requests = 0;
    gateway.upstream.script((connection, request) => {
      requests += 1;
      const failed = streams(event({ type: "error", error: { message: "overloaded", type: "overloaded_error" } }));
      return (requests === 1 ? failed : streams(delta("Hi."), ended))(connection, request);
    });
    const answer = await send([...parts, ["retries", "0"], ["fallback_models", '["gpt-4o-mini-transcribe"]']]);
    expect(answer.text).toBe(delta("Hi.") + ended);
    expect((await spanOf())["attempts"]).toMatchObject([
      { error_message: "overloaded" },
      { model: "gpt-4o-mini-transcribe" },
    ]);
  });

  test("of a model without streaming is its whole response; stream must be true or false", async () => {
    const answer = await send([file, ["model", "whisper-1"], ["stream", "true"]]);
    expect(answer.json).toEqual({ text: "Hello there." });
    expect(await send([file, ["model", "whisper-1"], ["stream", "maybe"]])).toMatchObject({
      status: 400,
      json: { error: { param: "stream" } },
    });
  });
});
