import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chunk, done, event, eventsOf, helloStream, question, textOf, usageChunk } from "../support/chat.ts";
import { gatewayOperations, send } from "../support/gateway-operations.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Streams of upstreams that imitate another wire format, or omit parts of it. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
});

async function chat(script: Script, members: Row = {}): Promise<Answer> {
  gateway.upstream.script(script);
  return client.post("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [question],
    stream: true,
    retries: 0,
    ...members,
  });
}
const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));

const deltasOf = (answer: Answer): Row[] =>
  eventsOf(answer.text)
    .flatMap((each) => (each === "[DONE]" ? [] : ((each as Row)["choices"] as Row[])))
    .map(({ delta }) => delta as Row);

const listed = (answer: Answer, name: string): Row[] =>
  deltasOf(answer).flatMap((delta) => (delta[name] as Row[] | undefined) ?? []);

const anthropic = (type: string, members: Row): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const block = (index: number, content: Row, deltas: Row[]): string =>
  [
    anthropic("content_block_start", { index, content_block: content }),
    ...deltas.map((delta) => anthropic("content_block_delta", { index, delta })),
    anthropic("content_block_stop", { index }),
  ].join("");

const message = { id: "msg_1", role: "assistant", model: "claude", content: [], usage: { input_tokens: 9 } };
const cite = (url: string): Row => ({
  type: "citations_delta",
  citation: { type: "web_search_result_location", url, title: url, cited_text: "x" },
});
const anthropicStream = [
  anthropic("message_start", { message }),
  block(0, { type: "thinking", thinking: "" }, [
    { type: "thinking_delta", thinking: "Hm." },
    { type: "signature_delta", signature: "c2ln" },
  ]),
  block(1, { type: "redacted_thinking", data: "cmVk" }, []),
  block(2, { type: "text", text: "" }, [cite("https://a.example/"), { type: "text_delta", text: "One." }]),
  block(3, { type: "text", text: "" }, [cite("https://b.example/"), { type: "text_delta", text: "Two." }]),
  block(4, { type: "thinking", thinking: "" }, [
    { type: "thinking_delta", thinking: "So." },
    { type: "signature_delta", signature: "dHdv" },
  ]),
  anthropic("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } }),
  anthropic("message_stop", {}),
].join("");

describe("lists of a message", () => {
  test("P4: thinking blocks and annotations of a translated stream carry a running index, the record has none", async () => {
    const answer = await chat(streams(anthropicStream), { model: "anthropic/claude-sonnet-4-5" });
    const blocks = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "cmVk" },
      { type: "thinking", thinking: "So.", signature: "dHdv" },
    ];
    expect(listed(answer, "thinking_blocks")).toMatchObject(blocks.map((each, index) => ({ ...each, index })));
    expect(listed(answer, "annotations").map(({ index }) => index)).toEqual([0, 1]);
    const { completion_message: completion } = await spanOf(answer);
    expect(completion).toMatchObject({ thinking_blocks: blocks });
    for (const each of (completion as { annotations: Row[] }).annotations) expect(each).not.toHaveProperty("index");
  });

  test("P4: also lists of an OpenAI-shaped stream, for each choice; existing indexes are kept", async () => {
    const image = (url: string): Row => ({ type: "image_url", image_url: { url } });
    const choice = (index: number, delta: Row, finish_reason: string | null = null): Row => ({
      choices: [{ index, delta, finish_reason }],
    });
    const answer = await chat(
      streams(
        chunk({}, null, choice(0, { role: "assistant", images: [image("data:a"), image("data:b")] })),
        chunk({}, null, choice(1, { role: "assistant", images: [image("data:c")] })),
        chunk({}, null, choice(0, { images: [image("data:d")] })),
        chunk({}, null, choice(0, { reasoning_details: [{ index: 7, type: "reasoning.text", text: "Hm" }] })),
        chunk({}, null, choice(0, {}, "stop")),
        chunk({}, null, choice(1, {}, "stop")),
        done,
      ),
    );
    expect(listed(answer, "images").map(({ index }) => index)).toEqual([0, 1, 0, 2]);
    expect(listed(answer, "reasoning_details").map(({ index }) => index)).toEqual([7]);
  });

  test("P4: a whole message that is streamed, or replayed from the cache, has them too", async () => {
    const annotations = [{ type: "url_citation", url_citation: { url: "https://a.example/" } }];
    const body = {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "gpt-4o",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi", annotations }, finish_reason: "stop" }],
    };
    const members = { cache_enabled: true, messages: [{ role: "user", content: "Cite." }] };
    const first = await chat(answers(200, body), members);
    expect(listed(first, "annotations").map(({ index }) => index)).toEqual([0]);
    const again = await chat(answers(500, {}), members);
    expect(again.headers.get("x-spanway-cache")).toBe("hit");
    expect(listed(again, "annotations").map(({ index }) => index)).toEqual([0]);
    const whole = await chat(answers(500, {}), { ...members, stream: false });
    expect(whole.json).toMatchObject({ choices: [{ message: { content: "Hi", annotations } }] });
  });
});

describe("a last event without its blank line", () => {
  const usage = { prompt_tokens: 31, completion_tokens: 5, total_tokens: 36 };
  const tails = ["", "\n", "\r", "\r\n"];

  test.each(tails.map((tail) => [tail]))("P11: followed by %j is an event of chat, its usage counts", async (tail) => {
    const last = usageChunk(usage).trimEnd() + tail;
    const answer = await chat(streams(...helloStream, last), { stream_options: { include_usage: true } });
    expect(textOf(eventsOf(answer.text))).toBe("Hello.");
    expect(eventsOf(answer.text).at(-2)).toMatchObject({ usage });
    expect(answer.text.endsWith(`\n\n${done}`)).toBe(true);
    expect(await spanOf(answer)).toMatchObject({ status_code: 200, prompt_tokens: 31, usage_is_estimated: null });
  });

  test.each(tails.map((tail) => [tail]))("P11: followed by %j is an event of Anthropic's stream", async (tail) => {
    const answer = await chat(streams(anthropicStream.trimEnd() + tail), { model: "anthropic/claude-sonnet-4-5" });
    expect(textOf(eventsOf(answer.text))).toBe("One.Two.");
    expect(await spanOf(answer)).toMatchObject({ status_code: 200, prompt_tokens: 9, completion_tokens: 7 });
  });

  test.each(tails.map((tail) => [tail]))("P11: followed by %j is an event of Responses", async (tail) => {
    const response = { id: "resp_1", output: [], usage: { input_tokens: 31, output_tokens: 5, total_tokens: 36 } };
    const last = JSON.stringify({ type: "response.completed", response });
    gateway.upstream.script(
      streams(
        event({ type: "response.output_text.delta", item_id: "m", delta: "Hi" }),
        `event: response.completed\ndata: ${last}${tail}`,
      ),
    );
    const answer = await client.post("/v1/responses", { model: "gpt-4o", input: "Hi", stream: true, retries: 0 });
    expect(answer.text.endsWith(`data: ${last}\n\n`)).toBe(true);
    expect(await spanOf(answer)).toMatchObject({ status_code: 200, prompt_tokens: 31, completion_tokens: 5 });
  });

  const others = gatewayOperations.filter(({ name }) => name === "messages" || name === "transcription");
  test.each(others.flatMap((operation) => tails.map((tail) => [tail, operation.name, operation] as const)))(
    "P11: followed by %j is an event of %s",
    async (tail, _name, operation) => {
      gateway.upstream.script(streams(operation.begin + operation.end.trimEnd() + tail));
      const answer = await send(client, operation, { stream: true });
      expect(await spanOf(answer)).toMatchObject({
        status_code: 200,
        prompt_tokens: 1_000,
        completion_tokens: 100,
        usage_is_estimated: null,
      });
    },
  );

  test.each(tails.map((tail) => [tail]))("P11: followed by %j is an event of Gemini's stream", async (tail) => {
    const last = event({
      candidates: [{ content: { parts: [{ text: "Hi." }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 31, candidatesTokenCount: 5, totalTokenCount: 36 },
    });
    const setting = { provider: "gemini", api_key: "gemini-key-0123456789", base_url: gateway.upstream.url };
    expect((await client.post("/api/providers/", setting)).status).toBe(201);
    const answer = await chat(streams(last.trimEnd() + tail), { model: "gemini-3-pro-preview" });
    expect(textOf(eventsOf(answer.text))).toBe("Hi.");
    expect(await spanOf(answer)).toMatchObject({ status_code: 200, prompt_tokens: 31, completion_tokens: 5 });
  });

  test("P11: that was truncated is ignored", async () => {
    const answer = await chat(streams(helloStream[0] ?? "", helloStream[1] ?? "", (helloStream[2] ?? "").slice(0, 60)));
    expect(eventsOf(answer.text).at(-1)).toMatchObject({ error: { code: "stream_truncated" } });
  });
});

test("P11: CR, CRLF, a byte order mark and data in several lines reach the caller as plain events", async () => {
  const lines = helloStream.map((each) => each.replace(/^data: \{"id"/, 'data: {\ndata: "id"'));
  for (const end of ["\r", "\r\n"]) {
    const bytes = Buffer.from(`\uFEFF${[...lines, done].join("").replaceAll("\n", end)}`);
    for (const offset of [1, 2, 7, 60, bytes.indexOf("lo."), bytes.length - 1]) {
      const answer = await chat(streams(bytes.subarray(0, offset), bytes.subarray(offset)));
      expect(answer.text).not.toMatch(/[\r\uFEFF]/);
      expect(textOf(eventsOf(answer.text.replaceAll("data: {\ndata: ", "data: {")))).toBe("Hello.");
    }
  }
});

describe("deltas that SDKs cannot read", () => {
  const call = (members: Row): string => chunk({ tool_calls: [members] });

  test("P10: reach the caller in OpenAI's form, and the record", async () => {
    const answer = await chat(
      streams(
        chunk({ role: "", content: null }),
        call({ type: "function", function: { name: "weather", arguments: "" } }),
        call({ function: { name: null, arguments: '{"city"' } }),
        call({ id: "call_a", function: { name: null, arguments: ':"Paris"}' } }),
        call({ id: "call_b", type: "function", function: { name: "time", arguments: "{}" } }),
        chunk({ role: "" }, "tool_calls"),
        done,
      ),
    );
    const deltas = deltasOf(answer);
    expect(deltas[0]).toEqual({ role: "assistant", content: null });
    expect(deltas.slice(1).flatMap(({ tool_calls }) => (tool_calls as Row[] | undefined) ?? [])).toEqual([
      { index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
      { index: 1, id: "call_b", type: "function", function: { name: "time", arguments: "{}" } },
    ]);
    expect(await spanOf(answer)).toMatchObject({
      completion_message: {
        tool_calls: [
          { id: "call_a", function: { name: "weather", arguments: '{"city":"Paris"}' } },
          { id: "call_b", function: { name: "time", arguments: "{}" } },
        ],
      },
    });
  });

  test("P10: a call that never gets an id gets one of the gateway when the choice ends", async () => {
    const answer = await chat(
      streams(
        chunk({ role: "assistant" }),
        call({ function: { name: "f", arguments: {} } }),
        chunk({}, "tool_calls"),
        done,
      ),
    );
    expect(listed(answer, "tool_calls")).toEqual([
      { index: 0, id: expect.stringMatching(/^call_\w+$/), type: "function", function: { name: "f", arguments: "{}" } },
    ]);
  });

  test("P10: choices without an index, or null, are read", async () => {
    const answer = await chat(
      streams(
        chunk({}, null, { choices: [{ delta: { role: "assistant", content: "Hi" } }] }),
        chunk({}, null, { choices: [{ delta: {}, finish_reason: "stop" }] }),
        event({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: null, usage: { prompt_tokens: 1 } }),
        done,
      ),
      { stream_options: { include_usage: true } },
    );
    const events = eventsOf(answer.text) as Array<{ choices: Row[] }>;
    expect(events.slice(0, -1).every(({ choices }) => choices.every(({ index }) => index === 0))).toBe(true);
    expect(events.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 1 } });
  });
});
