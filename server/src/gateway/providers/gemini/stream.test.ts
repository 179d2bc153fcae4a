import { describe, expect, test } from "vitest";
import type { ChatChunk } from "../provider.ts";
import { call, runAtEverySplit, runStream, type Streamed } from "../stream.fixture.ts";
import {
  blockedPrompt,
  callThenStop,
  citations,
  groundedText,
  groundingMetadata,
  quotaExceeded,
} from "./answers.fixture.ts";
import { geminiTranslator } from "./translator.ts";

const sse = (events: readonly object[]): Buffer =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(""));
const run = (...events: object[]): Streamed => runAtEverySplit(geminiTranslator, sse(events));
const once = (...events: object[]): Streamed => runStream(geminiTranslator, [sse(events)]);
const chunksOf = (...events: object[]): ChatChunk[] => {
  const stream = geminiTranslator.stream(call);
  return [...stream.push(sse(events)).chunks, ...stream.end().chunks];
};

const event = (...parts: object[]) => ({ candidates: [{ content: { parts, role: "model" }, index: 0 }] });
const done = (finishReason: string, usageMetadata: object = { promptTokenCount: 3, candidatesTokenCount: 4 }) => ({
  candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason, index: 0 }],
  usageMetadata,
});
const called = (name: string, args?: object, id?: string) => ({
  functionCall: { name, ...(args && { args }), ...(id && { id }) },
});

test("text in any script, with separate thoughts", () => {
  const streamed = run(
    { ...event({ text: "Let me ", thought: true }), responseId: "r1" },
    event({ text: "see.", thought: true }, { text: "北京 \ud83c" }),
    event({ text: "\udf0d naïve" }),
    done("STOP"),
  );
  expect(streamed).toMatchObject({ id: "r1", finish: "stop", isDone: true, problem: undefined });
  expect(streamed.message).toEqual({ role: "assistant", content: "北京 🌍 naïve", reasoning_content: "Let me see." });
});

test("web pages that ground a response are annotations, before the finish", () => {
  const end = { ...done("STOP", { promptTokenCount: 3, candidatesTokenCount: 4, serviceTier: "flex" }) };
  const streamed = run(event({ text: groundedText.slice(0, 20) }), event({ text: groundedText.slice(20) }), {
    ...end,
    candidates: [{ ...end.candidates[0], groundingMetadata }],
  });
  expect(streamed).toMatchObject({ finish: "stop", isDone: true, message: { content: groundedText } });
  expect(streamed.message["annotations"]).toEqual(citations);
  expect(streamed.usage).toMatchObject({ server_tool_use: { web_search_requests: 2 }, service_tier: "flex" });
});

test("a call, followed by a finish with empty text, finishes once with tool_calls", () => {
  const streamed = run(...callThenStop);
  expect(streamed).toMatchObject({ id: "QHiLaa6LBrb8vdIPoNztsAg", finish: "tool_calls" });
  expect(streamed.usage).toEqual({
    prompt_tokens: 29,
    completion_tokens: 819,
    total_tokens: 848,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 804 },
  });
});

test("a signature is passed on with its call, in a form that clients send back", () => {
  const delta = chunksOf(...callThenStop)[0]?.choices[0]?.delta.tool_calls?.[0];
  expect(delta).toMatchObject({ index: 0, extra_content: { google: { thought_signature: "EpEgCo4gAb4+" } } });
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", tool_calls: [delta] },
    { role: "tool", tool_call_id: delta?.id, content: "sunny" },
  ];
  const target = { provider: "gemini", model: "gemini-3-pro-preview", baseUrl: "http://x", credential: { fields: {} } };
  const sent = JSON.parse(geminiTranslator.request({ model: "m", messages }, target, 0).body.toString()) as {
    contents: Array<{ parts: unknown[] }>;
  };
  expect(sent.contents[1]?.parts).toEqual([
    {
      functionCall: { id: delta?.id, name: "weather", args: { location: "San Francisco" } },
      thoughtSignature: "EpEgCo4gAb4+",
    },
  ]);
});

test("calls of one name have distinct ids, with Gemini's ids or without", () => {
  const streamed = run(
    event(called("a", { n: 1 }), called("a", { n: 1 })),
    event(called("a", { n: 2 }, "own")),
    done("STOP"),
  );
  const calls = streamed.message.tool_calls ?? [];
  expect(calls.map(({ function: { arguments: args } }) => args)).toEqual(['{"n":1}', '{"n":1}', '{"n":2}']);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
  expect(calls[2]?.id).toBe("own");
  const other = geminiTranslator.stream({ ...call, id: "chatcmpl-2" });
  const [chunk] = other.push(sse([event(called("a"))])).chunks;
  expect(calls.map(({ id }) => id)).not.toContain(chunk?.choices[0]?.delta.tool_calls?.[0]?.id);
});

test("a call without arguments has {}; the tool of a JSON response becomes text", () => {
  expect(run(event(called("now")), done("STOP")).message.tool_calls).toMatchObject([{ function: { arguments: "{}" } }]);
  const json = run(event(called("spanway_json_answer", { a: 1 })), done("STOP"));
  expect(json).toMatchObject({ finish: "stop", message: { content: '{"a":1}' } });
});

test.each([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["SPII", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["A_NEW_REASON", "stop"],
])("%s is %s", (reason, finish) => {
  expect(once(event({ text: "x" }), done(reason)).finish).toBe(finish);
});

test.each(["MAX_TOKENS", "SAFETY"])("%s keeps its finish reason after a call", (reason) => {
  expect(once(event(called("a")), done(reason)).finish).toBe(reason === "SAFETY" ? "content_filter" : "length");
});

test("a blocked prompt is a response with a refusal", () => {
  const streamed = run(blockedPrompt);
  expect(streamed).toMatchObject({
    finish: "content_filter",
    message: { content: null, refusal: "The prompt was blocked: PROHIBITED_CONTENT" },
    usage: { prompt_tokens: 9, completion_tokens: 0 },
  });
});

describe("usage", () => {
  const big = { promptTokenCount: 10, candidatesTokenCount: 20, cachedContentTokenCount: 8 };
  test.each<[string, object[]]>([
    [
      "on every event",
      [
        { ...event({ text: "x" }), usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1 } },
        done("STOP", big),
      ],
    ],
    ["after the finish", [event({ text: "x" }), done("STOP", {}), { usageMetadata: big }]],
    [
      "twice, the second larger",
      [event({ text: "x" }), done("STOP", { ...big, candidatesTokenCount: 2 }), { usageMetadata: big }],
    ],
    [
      "and nothing afterwards",
      [event({ text: "x" }), done("STOP", big), { usageMetadata: {} }, { usageMetadata: null }],
    ],
  ])("%s: the last figures are used", (_what, events) => {
    expect(once(...events).usage).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 20,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 8 },
    });
  });

  test("that was never sent is not invented", () => {
    expect(once(event({ text: "x" }), done("STOP", {}))).toMatchObject({ isDone: true, usage: undefined });
  });
});

test("of finish reasons in every event, as older models send them, the last one is used", () => {
  const event = (text: string) => ({
    candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP", index: 0 }],
  });
  expect(run(event("a"), event("b"), event("c"))).toMatchObject({ message: { content: "abc" }, finish: "stop" });
});

test("several candidates are as many choices, each with a role and a finish", () => {
  const both = (a: string, b: string, finishReason?: string) => ({
    candidates: [a, b].map((text, index) => ({
      content: { parts: [{ text }] },
      index,
      ...(finishReason && { finishReason }),
    })),
  });
  const chunks = chunksOf(both("a", "x"), both("b", "y", "STOP"));
  for (const index of [0, 1]) {
    const choices = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
    expect(choices.map(({ delta }) => delta.role)).toEqual(["assistant", undefined, undefined]);
    expect(choices.map(({ delta }) => delta.content ?? "").join("")).toBe(["ab", "xy"][index]);
    expect(choices.map(({ finish_reason }) => finish_reason)).toEqual([null, null, "stop"]);
  }
});

test("logprobs arrive with their text", () => {
  const logprobsResult = {
    chosenCandidates: [{ token: "é", logProbability: -0.5 }],
    topCandidates: [
      {
        candidates: [
          { token: "é", logProbability: -0.5 },
          { token: "e", logProbability: -1 },
        ],
      },
    ],
  };
  const event = { candidates: [{ content: { parts: [{ text: "é" }] }, index: 0, logprobsResult }] };
  expect(chunksOf(event)[0]?.choices[0]?.logprobs).toEqual({
    content: [
      {
        token: "é",
        logprob: -0.5,
        bytes: [195, 169],
        top_logprobs: [
          { token: "é", logprob: -0.5, bytes: [195, 169] },
          { token: "e", logprob: -1, bytes: [101] },
        ],
      },
    ],
    refusal: null,
  });
});

describe("invalid responses", () => {
  test.each<[string, object[]]>([
    ["an end without a finish", [event({ text: "x" })]],
    ["a finish without a reason", [event({ text: "x" }), { candidates: [{ index: 0 }] }]],
    ["only usage", [{ usageMetadata: { promptTokenCount: 1 } }]],
    ["a malformed call", [done("MALFORMED_FUNCTION_CALL")]],
    ["a finish with reason OTHER", [event({ text: "x" }), done("OTHER")]],
  ])("%s is a problem", (_what, events) => {
    expect(once(...events)).toMatchObject({
      finish: undefined,
      isDone: false,
      problem: { kind: "fault", status: 200 },
    });
  });

  test("an error within the stream is reported with its kind and wait", () => {
    expect(once(quotaExceeded).problem).toMatchObject({ kind: "busy", status: 200, retryAfterMs: 34_400 });
    const unavailable = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
    expect(once(event({ text: "x" }), unavailable, done("STOP"))).toMatchObject({
      message: { content: "x" },
      finish: undefined,
      problem: { kind: "busy", message: "The model is overloaded.", type: "UNAVAILABLE" },
    });
  });

  test("comments and lines of proxies are ignored, other bytes are a problem", () => {
    const noise = Buffer.from(": PROCESSING\n\ndata: : keepalive\n\n");
    const rest = sse([event({ text: "x" }), done("STOP")]);
    expect(runAtEverySplit(geminiTranslator, Buffer.concat([noise, rest]))).toMatchObject({ finish: "stop" });
    expect(runStream(geminiTranslator, [Buffer.from("data: <html>\n\n")]).problem).toMatchObject({ kind: "fault" });
    const truncated = Buffer.concat([rest, Buffer.from('data: {"candidates":')]);
    expect(runStream(geminiTranslator, [truncated])).toMatchObject({ isDone: false, problem: { kind: "fault" } });
  });
});

test("reports the usage so far of a broken stream", () => {
  const stream = geminiTranslator.stream(call);
  expect(stream.usage?.()).toBeUndefined();
  stream.push(sse([{ ...event({ text: "x" }), usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1 } }]));
  expect(stream.usage?.()).toMatchObject({ prompt_tokens: 10, completion_tokens: 1 });
});

test("generated images have their signatures", () => {
  const image = { inlineData: { mimeType: "image/png", data: "b25l" }, thoughtSignature: "c2ln" };
  expect(run(event(image), done("STOP")).message.images).toEqual([
    {
      type: "image_url",
      image_url: { url: "data:image/png;base64,b25l" },
      extra_content: { google: { thought_signature: "c2ln" } },
    },
  ]);
});

test("generated images are complete, between the texts; drafts are omitted", () => {
  const drawn = (data: string, thought?: boolean) => ({
    inlineData: { mimeType: "image/png", data },
    ...(thought && { thought }),
  });
  const events = [
    event({ text: "Here" }, drawn("ZHJhZnQ=", true)),
    event(drawn("b25l"), drawn("dHdv"), { text: " you are." }),
    done("STOP"),
  ];
  const images = ["b25l", "dHdv"].map((data) => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${data}` },
  }));
  expect(run(...events).message).toEqual({ role: "assistant", content: "Here you are.", images });
  const parts = [{ text: "Here" }, drawn("b25l"), drawn("dHdv"), { text: " you are." }];
  const reply = { candidates: [{ content: { parts }, finishReason: "STOP" }] };
  const [choice] = geminiTranslator.reply(Buffer.from(JSON.stringify(reply)), call).choices;
  expect(choice?.message).toEqual({ role: "assistant", content: "Here you are.", images });
});
