import { describe, expect, test } from "vitest";
import { runAtEverySplit, runStream } from "../stream.fixture.ts";
import { encodeEvent, encodeMessage } from "./event-stream.fixture.ts";
import { bedrockTranslator } from "./translator.ts";

/** Streams in the forms of the ConverseStream page of Bedrock's documentation. */

const start = encodeEvent("messageStart", { role: "assistant" });
const add = (contentBlockIndex: number, delta: object) =>
  encodeEvent("contentBlockDelta", { contentBlockIndex, delta });
const close = (contentBlockIndex: number) => encodeEvent("contentBlockStop", { contentBlockIndex });
const open = (contentBlockIndex: number, name: string) =>
  encodeEvent("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId: `id_${name}`, name } } });
const stop = (stopReason: string) => encodeEvent("messageStop", { stopReason });
const usage = encodeEvent("metadata", { usage: { inputTokens: 3, outputTokens: 9, totalTokens: 12 } });
const run = (...events: Buffer[]) => runStream(bedrockTranslator, events);

test("reasoning is readable, and its blocks are complete and signed", () => {
  const events = [
    start,
    add(0, { reasoningContent: { text: "First," } }),
    add(0, { reasoningContent: { text: " think." } }),
    add(0, { reasoningContent: { signature: "c2ln" } }),
    close(0),
    add(1, { reasoningContent: { redactedContent: "eA==" } }),
    close(1),
    add(2, { text: "Done" }),
    add(2, { text: ".\ud83c" }),
    add(2, { text: "\udf0d" }),
    close(2),
    stop("end_turn"),
    usage,
  ];
  expect(runAtEverySplit(bedrockTranslator, Buffer.concat(events)).message).toEqual({
    role: "assistant",
    content: "Done.🌍",
    reasoning_content: "First, think.",
    thinking_blocks: [
      { type: "thinking", thinking: "First, think.", signature: "c2ln" },
      { type: "redacted_thinking", data: "eA==" },
    ],
  });
});

test("cited web pages are annotations of their block", () => {
  const web = (url: string) => ({ citation: { title: "A", location: { web: { url, domain: "a.example" } } } });
  const streamed = runAtEverySplit(
    bedrockTranslator,
    Buffer.concat([
      start,
      add(0, { text: "So: " }),
      close(0),
      add(1, web("https://a.example")),
      add(1, { text: "as it" }),
      add(1, { text: " says." }),
      add(1, web("https://b.example")),
      add(1, { citation: { location: { documentChar: { documentIndex: 0 } } } }),
      close(1),
      stop("end_turn"),
      usage,
    ]),
  );
  expect(streamed.message).toEqual({
    role: "assistant",
    content: "So: as it says.",
    annotations: ["https://a.example", "https://b.example"].map((url) => ({
      type: "url_citation",
      url_citation: { url, title: "A", start_index: 4, end_index: 15 },
    })),
  });
});

test("calls keep their own index, interleaved or empty; Bedrock's server tools are ignored", () => {
  const own = encodeEvent("contentBlockStart", {
    contentBlockIndex: 3,
    start: { toolUse: { toolUseId: "s", name: "search", type: "server_tool_use" } },
  });
  const streamed = run(
    start,
    open(1, "a"),
    open(2, "b"),
    own,
    add(2, { toolUse: { input: '{"n":' } }),
    add(3, { toolUse: { input: "{}" } }),
    add(1, { toolUse: { input: "" } }),
    add(2, { toolUse: { input: "2}" } }),
    close(3),
    close(2),
    close(1),
    stop("tool_use"),
    usage,
  );
  expect(streamed.finish).toBe("tool_calls");
  expect(streamed.message.tool_calls?.map(({ id, function: called }) => [id, called.name, called.arguments])).toEqual([
    ["id_a", "a", "{}"],
    ["id_b", "b", '{"n":2}'],
  ]);
});

test("usage may come before the stop, after it, or not at all", () => {
  const events = [start, add(0, { text: "Hi" }), close(0)];
  const after = run(...events, stop("end_turn"), usage);
  expect(run(...events, usage, stop("end_turn"))).toEqual(after);
  expect(after.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 });
  expect(run(...events, stop("end_turn"))).toMatchObject({
    isDone: true,
    finish: "stop",
    usage: undefined,
    problem: undefined,
  });
});

test("usage includes the cache", () => {
  const counted = {
    inputTokens: 3,
    outputTokens: 550,
    cacheReadInputTokens: 100,
    cacheWriteInputTokens: 12_304,
    cacheDetails: [
      { ttl: "1h", inputTokens: 304 },
      { ttl: "5m", inputTokens: 12_000 },
    ],
  };
  expect(run(start, stop("end_turn"), encodeEvent("metadata", { usage: counted })).usage).toEqual({
    prompt_tokens: 12_407,
    completion_tokens: 550,
    total_tokens: 12_957,
    prompt_tokens_details: { cached_tokens: 100, cache_creation_tokens: 12_304 },
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 12_304,
    cache_creation: { ephemeral_5m_input_tokens: 12_000, ephemeral_1h_input_tokens: 304 },
  });
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
])("%s is %s", (reason, finish) => {
  expect(run(start, stop(reason), usage).finish).toBe(finish);
});

describe("a stream that fails", () => {
  const exception = (type: string) =>
    encodeMessage({ ":exception-type": type, ":message-type": "exception" }, Buffer.from('{"message":"Told so"}'));

  test.each([
    ["throttlingException", "busy"],
    ["serviceUnavailableException", "busy"],
    ["internalServerException", "fault"],
    ["modelStreamErrorException", "fault"],
    ["validationException", "request"],
  ])("by %s is %s, both at the start and after content", (type, kind) => {
    const problem = { kind, status: 200, type, message: "Told so" };
    expect(run(exception(type))).toMatchObject({ problem, chunks: 0, isDone: false });
    expect(run(start, add(0, { text: "Hal" }), exception(type), stop("end_turn"))).toMatchObject({
      problem,
      finish: undefined,
      message: { content: "Hal" },
    });
  });

  test("by a transport error has its code", () => {
    const error = encodeMessage({ ":message-type": "error", ":error-code": "InternalError" }, Buffer.alloc(0));
    expect(run(start, error).problem).toMatchObject({ kind: "fault", type: "InternalError" });
  });

  test.each(["malformed_model_output", "malformed_tool_use"])("with %s is not a response", (reason) => {
    expect(run(start, add(0, { text: "{" }), stop(reason), usage)).toMatchObject({
      problem: { kind: "fault" },
      finish: undefined,
      isDone: false,
    });
  });

  test("by damage or an early end has no finish", () => {
    const damaged = Buffer.from(add(0, { text: "Hi" }));
    damaged[20] = (damaged[20] ?? 0) ^ 1;
    expect(run(start, damaged, stop("end_turn"), usage).problem).toMatchObject({ kind: "fault", status: 200 });
    expect(run(start, add(0, { text: "Hi" })).problem).toMatchObject({ kind: "fault" });
    expect(run(start, stop("end_turn"), usage.subarray(0, 20))).toMatchObject({
      problem: { kind: "fault" },
      finish: undefined,
    });
  });
});
