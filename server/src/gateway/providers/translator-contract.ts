import { describe, expect, test } from "vitest";
import { ServiceError } from "../../domain/errors.ts";
import {
  BadReply,
  type ChatRequest,
  type ChatTranslator,
  type ChatUsage,
  type FinishReason,
  type Target,
} from "./provider.ts";
import { call, runAtEverySplit, runStream } from "./stream.fixture.ts";

/**
 * The contract of every translator: it sends the same conversations, and converts the same responses, written in the
 * provider's own format, to the same OpenAI values, complete and streamed.
 */

/** A response as any provider may give it. */
export type Answer = {
  text?: string;
  calls?: Array<{ id: string; name: string; arguments: Record<string, unknown> }>;
  finish: FinishReason;
  usage: { fresh: number; cacheRead: number; output: number };
};

/** Writes a response in the provider's format, complete and as a stream whose text and arguments come `inPieces`. */
export type AnswerWriter = { reply(answer: Answer): Buffer; stream(answer: Answer): Buffer };

export function describeTranslator(translator: ChatTranslator, target: Target, write: AnswerWriter): void {
  describe(`${target.provider} by the common contract`, () => {
    test.each(Object.entries(conversations))("sends %s", (_what, chat) => {
      const before = structuredClone(chat);
      const sent = translator.request(chat, target, nowMs);
      expect(chat).toEqual(before);
      expect(sent).toEqual(translator.request(structuredClone(chat), target, nowMs));
      expect(sent.method).toBe("POST");
      expect(sent.url.startsWith(`${target.baseUrl}/`)).toBe(true);
      expect(Object.keys(sent.headers)).toEqual(Object.keys(sent.headers).map((name) => name.toLowerCase()));
      const sentBody = JSON.stringify(JSON.parse(sent.body.toString("utf8")));
      for (const word of wordsOf(chat)) expect(sentBody).toContain(JSON.stringify(word).slice(1, -1));
    });

    test.each(refused)("refuses %s, naming %s", (_what, param, chat) => {
      expect(refusalOf(() => translator.request(chat, target, nowMs))).toMatch(param);
    });

    test("requests a stream only if the caller wants one", () => {
      const chat = conversations["a question"]!;
      const plain = translator.request(chat, target, nowMs);
      const streamed = translator.request({ ...chat, stream: true }, target, nowMs);
      expect([streamed.url, streamed.body.toString()]).not.toEqual([plain.url, plain.body.toString()]);
      expect(translator.request({ ...chat, stream: false }, target, nowMs)).toEqual(plain);
    });

    test.each(Object.entries(answers))("reads %s, complete and streamed", (_what, answer) => {
      const completion = translator.reply(write.reply(answer), call);
      const [choice] = completion.choices;
      expect(completion).toMatchObject({ object: "chat.completion", created: call.created, model: call.model });
      expect(completion.choices).toHaveLength(1);
      const streamed = runAtEverySplit(translator, write.stream(answer));
      expect(streamed).toMatchObject({ isDone: true, problem: undefined });
      for (const { message, finish, usage } of [
        { message: choice?.message, finish: choice?.finish_reason, usage: completion.usage },
        streamed,
      ]) {
        expect(message?.content || undefined).toBe(answer.text);
        expect(readable(message?.tool_calls)).toEqual(answer.calls);
        expect(new Set(message?.tool_calls?.map(({ id }) => id)).size).toBe(answer.calls?.length ?? 0);
        expect(finish).toBe(answer.finish);
        expectUsage(usage, answer.usage);
      }
    });

    test("has no finish for a stream that ends early", () => {
      const bytes = write.stream(answers["text and two calls"]!);
      const streamed = runStream(translator, [bytes.subarray(0, bytes.length >> 1)]);
      expect(streamed).toMatchObject({ isDone: false, finish: undefined, problem: { status: 200 } });
      expect(runStream(translator, [])).toMatchObject({ chunks: 0, problem: { kind: "fault" } });
    });

    test("throws BadReply for bytes that are not a response", () => {
      for (const bytes of ["", "{}", "null", "[]", "<html>", '{"error":{"message":"x"}}']) {
        expect(() => translator.reply(Buffer.from(bytes), call)).toThrow(BadReply);
      }
    });

    test.each([
      [400, "request"],
      [401, "credential"],
      [403, "credential"],
      [404, "request"],
      [413, "request"],
      [429, "busy"],
      [500, "fault"],
      [502, "fault"],
      [503, "busy"],
    ])("classifies a bare %d as %s", (status, kind) => {
      expect(translator.problem(status, { "retry-after": "3" }, Buffer.from("<html>no</html>"))).toEqual({
        kind,
        status,
        message: "<html>no</html>",
        retryAfterMs: 3_000,
      });
    });
  });
}

const nowMs = 1_700_000_000_000;

function refusalOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
    return Object.keys(error.errors ?? {})[0];
  }
}

/** The gateway generates ids if a provider has none; arguments are compared as values. */
function readable(calls: Array<{ function: { name: string; arguments: string } }> | undefined): unknown {
  return calls?.map(({ function: called }) => ({
    id: expect.any(String) as unknown,
    name: called.name,
    arguments: JSON.parse(called.arguments) as unknown,
  }));
}

function expectUsage(usage: ChatUsage | undefined, { fresh, cacheRead, output }: Answer["usage"]): void {
  expect(usage).toMatchObject({
    prompt_tokens: fresh + cacheRead,
    completion_tokens: output,
    total_tokens: fresh + cacheRead + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  });
}

/** Every text of a chat that must occur in the sent request. */
function wordsOf(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("word ") ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(wordsOf);
}

const user = (content: unknown) => ({ role: "user", content });
const called = (...ids: string[]) => ({
  role: "assistant",
  content: "",
  tool_calls: ids.map((id) => ({
    id,
    type: "function",
    function: { name: "weather", arguments: `{"city":"word ${id}"}` },
  })),
});
const result = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content });
const tools = [
  {
    type: "function",
    function: {
      name: "weather",
      description: "word of the weather",
      parameters: { type: "object", properties: { city: { type: "string", description: "word of a city" } } },
    },
  },
];
const png =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const pdf = `data:application/pdf;base64,${Buffer.from("%PDF-1.4").toString("base64")}`;

const requestOf = (messages: unknown[], more: Record<string, unknown> = {}): ChatRequest => ({
  model: "m",
  messages,
  ...more,
});

const conversations: Readonly<Record<string, ChatRequest>> = {
  "a question": requestOf([user('word 北京 🌍 "quoted"\n')]),
  "a system prompt in parts and a conversation": requestOf([
    {
      role: "system",
      content: [
        { type: "text", text: "word one" },
        { type: "text", text: "word two" },
      ],
    },
    user("word three"),
    { role: "assistant", content: "word four" },
    { role: "developer", content: "word five" },
    user([{ type: "text", text: "word six" }]),
  ]),
  "an image and a document": requestOf([
    user([
      { type: "text", text: "word with" },
      { type: "image_url", image_url: { url: png } },
      { type: "file", file: { filename: "report.pdf", file_data: pdf } },
    ]),
  ]),
  "tools, with a choice": requestOf([user("word")], { tools, tool_choice: "required" }),
  "a loop of tools with parallel calls": requestOf(
    [
      user("word of both"),
      called("a", "b"),
      result("b", "word result b"),
      result("a", '{"$ref":"#/x"}'),
      user("word now"),
    ],
    { tools },
  ),
  "a response after tools that are no longer declared": requestOf([
    user("word"),
    called("a"),
    result("a", "word done"),
  ]),
  "a response in a JSON schema": requestOf([user("word")], {
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "city",
        schema: { type: "object", properties: { name: { type: "string", description: "word of it" } } },
      },
    },
  }),
  "all supported parameters": requestOf([user("word")], {
    max_tokens: 100,
    temperature: 0.5,
    stop: ["word stop", "END"],
    n: 1,
    logprobs: false,
    presence_penalty: 0,
    stream_options: { include_usage: true },
    user: "u",
    echo: true,
  }),
};

const refused: ReadonlyArray<readonly [what: string, param: RegExp, chat: ChatRequest]> = [
  [
    "a call without its result",
    /^messages\.1\.tool_calls$/,
    requestOf([user("word"), called("a", "b"), result("a", "x")]),
  ],
  ["a result without a call", /^messages\.1\.tool_call_id$/, requestOf([user("word"), result("a", "x")])],
  ["a part of an unknown kind", /^messages\.0\.content\.0/, requestOf([user([{ type: "hologram" }])])],
  ["no messages", /^messages$/, requestOf([])],
  ["an invalid tool", /^tools\.0/, requestOf([user("word")], { tools: ["weather"] })],
  ["an invalid format", /^response_format/, requestOf([user("word")], { response_format: { type: "xml" } })],
];

const answers: Readonly<Record<string, Answer>> = {
  text: { text: '北京 🌍 naïve "quoted"\n', finish: "stop", usage: { fresh: 10, cacheRead: 0, output: 5 } },
  "text from a cache": { text: "Hi", finish: "stop", usage: { fresh: 6, cacheRead: 30_940, output: 2 } },
  "a call without arguments": {
    calls: [{ id: "call_a", name: "now", arguments: {} }],
    finish: "tool_calls",
    usage: { fresh: 10, cacheRead: 0, output: 5 },
  },
  "text and two calls": {
    text: "Let me see.",
    calls: [
      { id: "call_a", name: "weather", arguments: { city: "Zürich 🏔", deep: { list: [1, null, "x"] } } },
      { id: "call_b", name: "weather", arguments: { city: "Zürich 🏔" } },
    ],
    finish: "tool_calls",
    usage: { fresh: 100, cacheRead: 20, output: 50 },
  },
  "a truncated response": { text: "Once upon", finish: "length", usage: { fresh: 10, cacheRead: 0, output: 100 } },
};

/** Splits a text into short pieces, never within a surrogate pair. */
export function inPieces(text: string): string[] {
  return text.match(/.{1,12}/gsu) ?? [];
}
