import fc from "fast-check";
import { expect, test } from "vitest";
import { isObject } from "../../lib/json.ts";
import { ServiceError } from "../../domain/errors.ts";
import { anthropicTranslator } from "./anthropic/translator.ts";
import { bedrockTranslator } from "./bedrock/translator.ts";
import { anyDialect, type Dialect, messageMembers } from "./dialect.ts";
import { geminiTranslator } from "./gemini/translator.ts";
import { adaptChat } from "./openai/request.ts";
import type { ChatTranslator, Target } from "./provider.ts";
import { openaiShaped } from "./quirks.ts";
import { call } from "./stream.fixture.ts";

/**
 * Conversations in which each response may come from another provider: every provider must accept them all, under its
 * own rules.
 */

type Message = Record<string, unknown>;
type Content = { text: string; thought: string; calls: number };

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const ofTranslator = (translator: ChatTranslator, reply: unknown): Message => ({
  ...translator.reply(bytes(reply), call).choices[0]?.message,
});
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** A response in each wire format, converted by its translator, or as an OpenAI-compatible provider writes it. */
const speakers: Readonly<Record<string, (content: Content, seed: string) => Message>> = {
  anthropic: ({ text, thought, calls }, seed) =>
    ofTranslator(anthropicTranslator, {
      content: [
        { type: "thinking", thinking: thought, signature: "sig" },
        {
          type: "text",
          text,
          citations: [{ type: "web_search_result_location", url: "https://a.example", title: "A" }],
        },
        { type: "redacted_thinking", data: "hidden" },
        ...range(calls).map((i) => ({ type: "tool_use", id: `toolu_${seed}_${i}`, name: "look", input: { at: i } })),
      ],
      stop_reason: "end_turn",
    }),
  bedrock: ({ text, thought, calls }, seed) =>
    ofTranslator(bedrockTranslator, {
      output: {
        message: {
          content: [
            { reasoningContent: { reasoningText: { text: thought, signature: "sig" } } },
            { text },
            ...range(calls).map((i) => ({ toolUse: { toolUseId: `tooluse_${seed}-${i}`, name: "look", input: {} } })),
          ],
        },
      },
      stopReason: "end_turn",
    }),
  gemini: ({ text, thought, calls }) =>
    ofTranslator(geminiTranslator, {
      candidates: [
        {
          content: {
            parts: [
              { text: thought, thought: true },
              { text },
              ...range(calls).map((i) => ({
                functionCall: { name: "look", args: { at: i } },
                thoughtSignature: "EpEg",
              })),
            ],
          },
          finishReason: "STOP",
        },
      ],
    }),
  openai: ({ text, calls }, seed) => ({
    role: "assistant",
    content: text,
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
    ...(calls > 0 && {
      tool_calls: range(calls).map((i) => ({
        id: `call_${seed}_${i}_${"x".repeat(60)}`,
        type: "function",
        function: { name: "look", arguments: "{" },
      })),
    }),
  }),
  openrouter: ({ text, thought }) => ({
    role: "assistant",
    content: text,
    reasoning: thought,
    reasoning_details: [{ type: "reasoning.text", text: thought }],
  }),
  deepseek: ({ text, thought, calls }, seed) => ({
    role: "assistant",
    content: text,
    reasoning_content: thought,
    ...(calls > 0 && {
      tool_calls: range(calls).map((i) => ({
        index: i,
        id: `${seed}:${i}`,
        type: "function",
        function: { name: "look", arguments: "" },
      })),
    }),
  }),
};

const words = fc.stringMatching(/^[a-zé ]{1,12}$/).map((text) => `w${text}`);
const turn = fc.record({
  speaker: fc.constantFrom(...Object.keys(speakers)),
  content: fc.record({ text: words, thought: words, calls: fc.nat(2) }),
  system: fc.option(words, { nil: undefined }),
  isCached: fc.boolean(),
});

function conversation(turns: ReadonlyArray<typeof turn extends fc.Arbitrary<infer T> ? T : never>): Message[] {
  const messages: Message[] = [{ role: "developer", content: "Be brief." }];
  turns.forEach(({ speaker, content, system, isCached }, at) => {
    const marker = isCached ? { cache_control: { type: "ephemeral" } } : {};
    messages.push({ role: "user", content: [{ type: "text", text: `Question ${at}.`, ...marker }] });
    const message = speakers[speaker]?.(content, `${at}`) ?? {};
    messages.push(message);
    const calls = (message["tool_calls"] ?? []) as Array<{ id: string }>;
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: `Result ${id}.` });
    if (system !== undefined) messages.push({ role: "system", content: system });
  });
  return [...messages, { role: "user", content: "And now?" }];
}

const conversations = fc.array(turn, { minLength: 1, maxLength: 5 }).map(conversation);

/** The parts of a chat that a dialect does not accept. */
function violations(messages: Message[], dialect: Dialect): string[] {
  const found: string[] = [];
  const open = new Set<unknown>();
  messages.forEach((message, at) => {
    const isKnown = (name: string): boolean =>
      (messageMembers.has(name) && !dialect.messagesLack.includes(name)) || dialect.history.includes(name);
    for (const [name, value] of Object.entries(message)) {
      const isTaken = isKnown(name) || (name === "cache_control" && dialect.takesCacheMarkers);
      if (!isTaken && value !== undefined) found.push(`${at}.${name}`);
    }
    if (message["role"] === "developer" && !dialect.takesDeveloper) found.push(`${at}: developer`);
    const parts = Array.isArray(message["content"]) ? (message["content"] as Message[]) : [];
    for (const part of parts) {
      if (!dialect.parts.has(String(part["type"]))) found.push(`${at}: ${String(part["type"])}`);
      if ("cache_control" in part && !dialect.takesCacheMarkers) found.push(`${at}: marker`);
    }
    for (const made of (message["tool_calls"] ?? []) as Message[]) {
      open.add(made["id"]);
      const names = Object.keys(made).filter((name) => !["id", "type", "function", "index"].includes(name));
      if (names.length > 0) found.push(`${at}: ${names.join()}`);
      if (dialect.isMistral && !/^[A-Za-z0-9]{9}$/.test(String(made["id"]))) found.push(`${at}: id`);
      if (String(made["id"]).length > dialect.maxIdChars) found.push(`${at}: length of id`);
      const text = isObject(made["function"]) ? String(made["function"]["arguments"]) : "";
      if (dialect.parsesCalls && !isObject(JSON.parse(text))) found.push(`${at}: arguments`);
    }
    if (message["role"] === "tool" && !open.delete(message["tool_call_id"])) found.push(`${at}: result of nothing`);
    const before = messages[at - 1];
    if (dialect.isMistral && message["role"] === "user" && before?.["role"] === "tool")
      found.push(`${at}: user after tool`);
    if (dialect.alternates && message["role"] === "system" && before !== undefined && before["role"] !== "system")
      found.push(`${at}: late system`);
  });
  return found;
}

const shaped = Object.entries(openaiShaped).flatMap(([name, { dialect }]) =>
  dialect === anyDialect ? [] : [[name, dialect] as const],
);

test.each(shaped)(
  "P1, P2, P18: %s accepts every conversation, whichever providers responded, and no text is lost",
  (provider, dialect) => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const before = structuredClone(messages);
        const { changes } = adaptChat({ messages }, dialect, { provider, model: "m" });
        expect(messages).toEqual(before);
        const sent = (changes["messages"] ?? messages) as Message[];
        expect(violations(sent, dialect)).toEqual([]);
        expect(contentIn(sent)).toEqual(expect.arrayContaining(contentIn(messages)));
        expect(adaptChat({ messages: sent }, dialect, { provider, model: "m" }).changes["messages"] ?? sent).toEqual(
          sent,
        );
      }),
      { numRuns: 60 },
    );
  },
);

/** The texts of a chat, except reasoning. */
function contentIn(messages: Message[]): string[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? (content as Message[]).map(({ text }) => String(text))
      : typeof content === "string" && content !== ""
        ? content.split("\n\n")
        : [],
  );
}

const at = (provider: string, model: string): Target => ({
  provider,
  model,
  baseUrl: "https://a.example",
  credential: { apiKey: "k", fields: { region: "eu-west-1" } },
});

type Block = Record<string, unknown>;
const listOf = (value: unknown): Block[] => (Array.isArray(value) ? (value as Block[]) : []);

test.each<[ChatTranslator, Target, string]>([
  [anthropicTranslator, at("anthropic", "claude-sonnet-4-5"), "messages"],
  [bedrockTranslator, at("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"), "messages"],
  [geminiTranslator, at("gemini", "gemini-3-pro-preview"), "contents"],
])("P1, P5, P13: a translator converts every conversation to its own form", (translator, target, member) => {
  fc.assert(
    fc.property(conversations, fc.boolean(), (messages, thinks) => {
      const more = thinks ? { reasoning_effort: "low", max_tokens: 9_000 } : {};
      const sent = translator.request({ model: "m", messages, ...more }, target, 0);
      const body = JSON.parse(sent.body.toString()) as Block;
      const turns = listOf(body[member]);
      expect(turns.map(({ role }) => role)).toEqual(turns.map((_, i) => (i % 2 === 0 ? "user" : turns[1]?.["role"])));
      const ids = (kind: RegExp): string[] =>
        [...sent.body.toString().matchAll(kind)].map(([, id]) => id ?? "").toSorted();
      if (target.provider === "gemini") return;
      const called = ids(/"(?:tool_use","id|toolUseId)":"([^"]+)","name"/g);
      const answered = ids(/"(?:tool_use_id|toolUseId)":"([^"]+)","content"/g);
      expect(answered).toEqual(called);
      for (const id of called) expect(id).toMatch(/^[\w-]{1,64}$/);
      for (const text of contentIn(messages))
        expect(sent.body.toString()).toContain(JSON.stringify(text.trimEnd()).slice(1, -1));
    }),
    { numRuns: 100 },
  );
});

test("a part that no provider supports is refused by name in every dialect", () => {
  const messages = [{ role: "user", content: [{ type: "hologram" }] }];
  for (const [provider, dialect] of shaped) {
    expect(() => adaptChat({ messages }, dialect, { provider, model: "m" })).toThrow(ServiceError);
  }
});
