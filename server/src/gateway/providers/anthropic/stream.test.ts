import { describe, expect, test } from "vitest";
import { call, runAtEverySplit, runStream, type Streamed } from "../stream.fixture.ts";
import { anthropicTranslator } from "./translator.ts";

/** Streams in the forms of the streaming page of Anthropic's documentation. */

type Event = { type: string; [member: string]: unknown };

const sse = (events: readonly Event[]): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));

const start = (usage: object = { input_tokens: 12, output_tokens: 1 }): Event => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [], usage },
});
const open = (index: number, content_block: object): Event => ({ type: "content_block_start", index, content_block });
const close = (index: number): Event => ({ type: "content_block_stop", index });
const add = (index: number, delta: object): Event => ({ type: "content_block_delta", index, delta });
const text = (index: number, piece: string): Event => add(index, { type: "text_delta", text: piece });
const json = (index: number, piece: string): Event => add(index, { type: "input_json_delta", partial_json: piece });
const tool = (index: number, name: string): Event =>
  open(index, { type: "tool_use", id: `toolu_${name}`, name, input: {} });
const stop = (reason: string | null, usage: object | null = { output_tokens: 30 }, more: object = {}): Event[] => [
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null, ...more }, usage },
  { type: "message_stop" },
];

const run = (...events: Event[]): Streamed => runAtEverySplit(anthropicTranslator, sse(events));
const called = (name: string, args: string) => ({
  id: `toolu_${name}`,
  type: "function",
  function: { name, arguments: args },
});

test("text in any script, however split", () => {
  const streamed = run(
    start(),
    open(0, { type: "text", text: "" }),
    { type: "ping" },
    text(0, "北京 🌍"),
    text(0, " naïve"),
    close(0),
    ...stop("end_turn"),
  );
  expect(streamed).toMatchObject({ id: "msg_1", finish: "stop", isDone: true, problem: undefined });
  expect(streamed.message).toEqual({ role: "assistant", content: "北京 🌍 naïve" });
  expect(streamed.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 });
});

test("calls whose deltas are interleaved keep their own index, counted from 0", () => {
  const streamed = run(
    start(),
    open(0, { type: "text", text: "" }),
    text(0, "Let me see."),
    close(0),
    tool(1, "weather"),
    tool(2, "time"),
    json(1, '{"city":'),
    json(2, '{"zone":"C'),
    json(1, '"Paris"}'),
    json(2, 'ET"}'),
    close(2),
    close(1),
    ...stop("tool_use"),
  );
  expect(streamed.finish).toBe("tool_calls");
  expect(streamed.message.content).toBe("Let me see.");
  expect(streamed.message.tool_calls).toEqual([
    called("weather", '{"city":"Paris"}'),
    called("time", '{"zone":"CET"}'),
  ]);
});

test.each([
  ["no deltas", []],
  ["empty deltas", [json(0, ""), json(0, "")]],
])("a call with %s has the arguments {}", (_what, deltas) => {
  const streamed = run(start(), tool(0, "now"), ...deltas, close(0), ...stop("tool_use"));
  expect(streamed.message.tool_calls).toEqual([called("now", "{}")]);
});

test("arguments may be complete in the start of their block", () => {
  const whole = open(0, { type: "tool_use", id: "toolu_a", name: "a", input: { n: 1 } });
  expect(run(start(), whole, close(0), ...stop("tool_use")).message.tool_calls).toEqual([called("a", '{"n":1}')]);
});

test("arguments split within an escape, and text within a surrogate pair, are joined", () => {
  const streamed = run(
    start(),
    open(0, { type: "text", text: "" }),
    text(0, "a\ud83c"),
    text(0, "\udf0d"),
    text(0, "b\ud83c"),
    close(0),
    tool(1, "a"),
    ...['{"t":"\\', "u00e9 \\ud8", "3c\\udf", "0d \ud83c", '\udf0d"}'].map((piece) => json(1, piece)),
    close(1),
    ...stop("tool_use"),
  );
  expect(streamed.message.content).toBe("a🌍b\ufffd");
  expect(JSON.parse(streamed.message.tool_calls?.[0]?.function.arguments ?? "")).toEqual({ t: "é 🌍 🌍" });
});

test("thinking is readable, and its blocks are complete and signed", () => {
  const streamed = run(
    start(),
    open(0, { type: "thinking", thinking: "", signature: "" }),
    add(0, { type: "thinking_delta", thinking: "First," }),
    add(0, { type: "thinking_delta", thinking: " think." }),
    add(0, { type: "signature_delta", signature: "c2ln" }),
    close(0),
    open(1, { type: "redacted_thinking", data: "b3BhcXVl" }),
    close(1),
    open(2, { type: "text", text: "" }),
    text(2, "Done."),
    close(2),
    ...stop("end_turn", { output_tokens: 30, output_tokens_details: { thinking_tokens: 20 } }),
  );
  expect(streamed.message).toEqual({
    role: "assistant",
    content: "Done.",
    reasoning_content: "First, think.",
    thinking_blocks: [
      { type: "thinking", thinking: "First, think.", signature: "c2ln" },
      { type: "redacted_thinking", data: "b3BhcXVl" },
    ],
  });
  expect(streamed.usage?.completion_tokens_details).toEqual({ reasoning_tokens: 20 });
});

test("the tool of a JSON response becomes text", () => {
  const answer = open(0, { type: "tool_use", id: "toolu_1", name: "spanway_json_answer", input: {} });
  const streamed = run(start(), answer, json(0, '{"a"'), json(0, ":1}"), close(0), ...stop("tool_use"));
  expect(streamed.message).toEqual({ role: "assistant", content: '{"a":1}' });
  expect(streamed.finish).toBe("stop");
});

test("unknown events and blocks of Anthropic's server tools are ignored", () => {
  const streamed = run(
    start(),
    { type: "something_new", index: 0 },
    open(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    json(0, '{"query":"x"}'),
    close(0),
    open(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
    close(1),
    open(2, { type: "text", text: "Found" }),
    add(2, { type: "citations_delta", citation: {} }),
    text(2, " it"),
    add(2, { type: "new_delta", x: 1 }),
    close(2),
    ...stop("end_turn"),
  );
  expect(streamed.message).toEqual({ role: "assistant", content: "Found it" });
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["a_new_reason", "stop"],
])("%s is %s", (reason, finish) => {
  expect(runStream(anthropicTranslator, [sse([start(), ...stop(reason)])]).finish).toBe(finish);
});

test("a refusal has its explanation", () => {
  const details = { stop_details: { type: "refusal", category: "bio", explanation: "Not that." } };
  expect(run(start(), ...stop("refusal", null, details)).message.refusal).toBe("Not that.");
});

test("max_tokens is length, also after a call", () => {
  const events = [start(), tool(0, "a"), json(0, '{"a'), close(0), ...stop("max_tokens")];
  expect(runStream(anthropicTranslator, [sse(events)])).toMatchObject({ finish: "length", isDone: true });
});

describe("usage", () => {
  const cached = {
    input_tokens: 3,
    output_tokens: 1,
    cache_creation_input_tokens: 12_304,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 12_000, ephemeral_1h_input_tokens: 304 },
  };
  const of = (...events: Event[]) => runStream(anthropicTranslator, [sse(events)]).usage;

  test("the last figures are used, omitted or null ones are kept", () => {
    const delta = { output_tokens: 550, input_tokens: null, cache_read_input_tokens: null };
    expect(of(start(cached), ...stop("end_turn", delta))).toEqual({
      prompt_tokens: 12_307,
      completion_tokens: 550,
      total_tokens: 12_857,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 12_304 },
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 12_304,
      cache_creation: { ephemeral_5m_input_tokens: 12_000, ephemeral_1h_input_tokens: 304 },
    });
    const grown = { input_tokens: 61, output_tokens: 2 };
    expect(of(start(), ...stop("end_turn", grown))).toMatchObject({ prompt_tokens: 61, completion_tokens: 2 });
  });

  test("null and an empty object change nothing; repeated figures are not added", () => {
    const twice = [stop("end_turn", { output_tokens: 5 })[0]!, ...stop("end_turn", { output_tokens: 9 })];
    expect(of(start(), ...twice)).toMatchObject({ prompt_tokens: 12, completion_tokens: 9 });
    const emptied = [stop("end_turn", { output_tokens: 5 })[0]!, ...stop("end_turn", {})];
    expect(of(start(), ...emptied)).toMatchObject({ prompt_tokens: 12, completion_tokens: 5 });
    expect(of(start(), ...stop("end_turn", null))).toMatchObject({ prompt_tokens: 12, completion_tokens: 1 });
  });
});

describe("a stream that fails", () => {
  const error = (type: string, message: string): Event => ({ type: "error", error: { type, message } });

  test.each([
    ["overloaded_error", "busy"],
    ["rate_limit_error", "busy"],
    ["api_error", "fault"],
    ["invalid_request_error", "request"],
    ["authentication_error", "credential"],
    ["billing_error", "credential"],
    ["something_new", "fault"],
  ])("by %s is %s, both at the start and after content", (type, kind) => {
    const problem = { kind, status: 200, type, message: "Told so" };
    const failing = (...events: Event[]) => runStream(anthropicTranslator, [sse(events)]);
    expect(failing(error(type, "Told so"))).toMatchObject({ problem, chunks: 0, isDone: false });
    const events = [start(), open(0, { type: "text", text: "" }), text(0, "Hal")];
    const after = failing(...events, error(type, "Told so"), text(0, "lo"));
    expect(after).toMatchObject({ problem, isDone: false, finish: undefined, message: { content: "Hal" } });
  });

  test.each<[string, object]>([
    ["an object", { error: { type: "server_error", message: "Out of capacity" } }],
    ["an object beside a null type", { type: null, error: { message: "Out of capacity" } }],
    ["a text", { error: "Out of capacity" }],
  ])("by an error in OpenAI's form, %s, as proxies send it", (_form, members) => {
    const event = members as Event;
    const problem = { kind: "fault", status: 200, message: "Out of capacity" };
    expect(runStream(anthropicTranslator, [sse([start(), event])])).toMatchObject({ problem, isDone: false });
  });

  test.each<[string, Event[]]>([
    ["immediately", []],
    ["after content", [start(), open(0, { type: "text", text: "" }), text(0, "Hal")]],
    ["within arguments", [start(), tool(0, "a"), json(0, '{"a')]],
    ["before its last event", [start(), ...stop("end_turn").slice(0, 1)]],
    ["without a reason", [start(), ...stop(null)]],
  ])("by ending %s has no finish", (_when, events) => {
    const streamed = runStream(anthropicTranslator, [sse(events)]);
    expect(streamed).toMatchObject({ problem: { kind: "fault", status: 200 }, finish: undefined, isDone: false });
    expect(streamed.usage).toBeUndefined();
  });

  test("by bytes that are not events is a fault; keep-alives are not", () => {
    const bad = Buffer.from('event: content_block_delta\ndata: {"type":"content_bl\n\n');
    expect(runStream(anthropicTranslator, [sse([start()]), bad]).problem).toMatchObject({ kind: "fault" });
    const alive = Buffer.from(": hello\n\ndata: : keepalive\n\ndata:\n\ndata: [DONE]\n\n");
    expect(runStream(anthropicTranslator, [alive, sse([start(), ...stop("end_turn")]), alive])).toMatchObject({
      isDone: true,
      problem: undefined,
    });
  });
});

test("cited web pages are annotations, once per text, as in a complete response", () => {
  const page = (url: string, title?: string) => ({ type: "web_search_result_location", url, ...(title && { title }) });
  const cite = (index: number, citation: object): Event => add(index, { type: "citations_delta", citation });
  const document = { type: "char_location", document_index: 0, start_char_index: 0, end_char_index: 3 };
  const streamed = run(
    start(),
    open(0, { type: "text", text: "" }),
    text(0, "It is "),
    close(0),
    open(1, { type: "text", text: "", citations: [] }),
    cite(1, page("https://a.test", "A")),
    text(1, "so 🌍"),
    cite(1, page("https://b.test")),
    cite(1, page("https://a.test", "A")),
    cite(1, document),
    close(1),
    ...stop("end_turn"),
  );
  const at = { start_index: 6, end_index: 11 };
  const annotations = [
    { type: "url_citation", url_citation: { url: "https://a.test", title: "A", ...at } },
    { type: "url_citation", url_citation: { url: "https://b.test", title: "", ...at } },
  ];
  expect(streamed.message).toEqual({ role: "assistant", content: "It is so 🌍", annotations });
  const content = [
    { type: "text", text: "It is " },
    { type: "text", text: "so 🌍", citations: [page("https://a.test", "A"), page("https://b.test"), document] },
  ];
  const reply = Buffer.from(JSON.stringify({ content, stop_reason: "end_turn" }));
  expect(anthropicTranslator.reply(reply, call).choices[0]?.message).toEqual(streamed.message);
});
