import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPriceBook } from "../../pricing/price-book.ts";
import type { Attempt } from "../routing/plan.ts";
import { costOf } from "../record/usage-report.ts";
import { estimateCost, usageCeiling } from "./estimators.ts";
import { checkTokenBounds } from "../chat/read-chat-request.ts";

const prices = createPriceBook({ maxModels: 100 });
const atMs = Date.parse("2026-03-10T12:00:00Z");
const say = (content: unknown) => ({ messages: [{ role: "user", content }] });
const chat = (members: Record<string, unknown>, model = "gpt-4o") => usageCeiling("chat", { members }, model);
const planOf = (...models: string[]) => ({ models, first: [] as Attempt[] });

describe("what a model may generate", () => {
  test.each([
    ["the greatest of several bounds", { max_tokens: 1, max_completion_tokens: 3_000 }, "gpt-4o", 3_000],
    ["in either order", { max_completion_tokens: 1, max_tokens: 3_000 }, "gpt-4o", 3_000],
    ["Responses API", { max_output_tokens: 16_000 }, "gpt-4o", 16_000],
    ["with thinking on top", { max_tokens: 1, thinking: { budget_tokens: 30_000 } }, "claude-sonnet-4-5", 30_001],
    ["Gemini's own", { max_tokens: 1, generationConfig: { maxOutputTokens: 60_000 } }, "gemini-2.5-pro", 60_000],
    ["as text", { generationConfig: { maxOutputTokens: "60000" } }, "gemini-2.5-pro", 60_000],
    [
      "in extra members",
      { max_tokens: 9, extra_body: { google: { thinking_config: { thinking_budget: 900 } } } },
      "gemini-2.5-pro",
      909,
    ],
    ["for each choice", { max_tokens: 100, n: 5 }, "gpt-4o", 500],
    ["for each candidate", { max_tokens: 100, generationConfig: { candidateCount: 8 } }, "gemini-2.0-flash", 800],
    ["without a limit", {}, "azure/gpt-4o", 16_384],
    ["without a limit, reasoning model", {}, "gpt-5-mini", 128_000],
    ["without a limit, Claude", {}, "anthropic/claude-3-5-haiku-latest", 8_192],
    ["without a limit, unknown model", {}, "llama-9", 16_384],
    [
      "not from content or tools",
      { ...say({ max_tokens: 9_000 }), tools: [{ max_tokens: 9_000 }], max_tokens: 7 },
      "gpt-4o",
      7,
    ],
  ])("%s", (_, members, model, tokens) => {
    expect(chat(members, model).completionTokens).toBe(tokens);
  });
});

describe("what a model may read", () => {
  const words = "word ".repeat(20_000);

  test("an image from the assistant counts as an image, not as text", () => {
    const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_000_000)}` } }];
    const drawn = { messages: [{ role: "assistant", content: "Here.", images }] };
    expect(chat(drawn).promptTokens).toBeLessThan(6_000);
  });
  test.each([
    ["messages", say(words)],
    ["rare characters of several tokens each", say("𠜎".repeat(25_000))],
    ["parts", say([{ type: "text", text: words }])],
    ["calls of earlier tools", { messages: [{ role: "assistant", tool_calls: [{ function: { arguments: words } }] }] }],
    ["tools", { tools: [{ type: "function", function: { name: "f", description: words } }] }],
    ["a schema", { response_format: { type: "json_schema", json_schema: { schema: { description: words } } } }],
    [
      "numbers of a schema",
      { tools: [{ type: "function", enum: Array.from({ length: 9_000 }, () => 1_234_567_890) }] },
    ],
    ["instructions", { instructions: words, input: "hi" }],
    ["a native instruction", { systemInstruction: { parts: [{ text: words }] } }],
    ["text beside an image", say([{ type: "image_url", image_url: { url: "https://e.com/a.png", note: words } }])],
    ["text under the name of media", { tools: [{ type: "function", properties: { image_url: { url: words } } }] }],
  ])("%s", (_, members) => {
    expect(chat(members).promptTokens).toBeGreaterThanOrEqual(90_000);
  });

  test.each([
    ["an image", { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1e6)}` } }, 5_000],
    ["a low-detail image", { type: "image_url", image_url: { url: "https://e.com/a.png", detail: "low" } }, 3_000],
    ["a Responses API image", { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(1e6)}` }, 5_000],
    ["a document", { type: "file", file: { file_data: `data:application/pdf;base64,${"A".repeat(1e6)}` } }, 300_000],
    ["a small file", { type: "file", file: { file_data: `data:application/pdf;base64,${"A".repeat(9_000)}` } }, 9_000],
    ["a document by its id", { type: "input_file", file_id: "file-1" }, 50_000],
  ])("%s is not read as text", (_, part, tokens) => {
    const { promptTokens } = chat(say([part]));
    expect(promptTokens).toBeGreaterThanOrEqual(tokens);
    expect(promptTokens).toBeLessThan(tokens + 300);
  });

  test("a recording counts by its time", () => {
    const data = wav(10).toString("base64");
    const { audioTokens, promptTokens } = chat(say([{ type: "input_audio", input_audio: { data, format: "wav" } }]));
    expect([audioTokens, promptTokens < 200]).toEqual([320, true]);
  });

  test("content that the provider stores counts with a minimum", () => {
    const { promptTokens } = usageCeiling(
      "responses",
      { members: { input: "x", previous_response_id: "r" } },
      "gpt-4o",
    );
    expect(promptTokens).toBeGreaterThan(16_384);
  });

  test("embedded tokens count one each, without output", () => {
    const input = [Array.from({ length: 300 }, () => 100_257), [1, 2, 3]];
    const usage = usageCeiling("embeddings", { members: { input } }, "text-embedding-3-small");
    expect(usage).toMatchObject({ promptTokens: 303, completionTokens: 0 });
  });
});

test("a recording of unknown duration costs as if it had the lowest bit rate of speech", () => {
  const request = { members: {}, recording: Buffer.alloc(600_000, 1) };
  const call = { organizationId: "o", operation: "transcription", request, plan: planOf("whisper-1"), atMs } as const;
  expect(estimateCost(prices, call)).toBeCloseTo(0.06, 6);
  expect(estimateCost(prices, { ...call, request: { members: {}, recording: wav(60) } })).toBeCloseTo(0.006, 6);
});

test("the most expensive of the possible models counts; null if no price is known", () => {
  const of = (...models: string[]) =>
    estimateCost(prices, {
      organizationId: "o",
      operation: "chat",
      request: { members: { max_tokens: 1_000 } },
      plan: planOf(...models),
      atMs,
    });
  expect(of("gpt-4o-mini", "gpt-4o")).toBe(of("gpt-4o"));
  expect(of("nobody-knows-it")).toBeNull();
  expect(of("nobody-knows-it", "gpt-4o")).toBe(of("gpt-4o"));
});

const models = ["gpt-4o", "gpt-4o-mini", "gpt-4o-audio-preview", "claude-sonnet-4-5", "gemini-2.5-pro", "gpt-5"];

describe("charges beside the standard token price are reserved", () => {
  const price = (model: string, members: object) => {
    const request = { members: { ...say([]), max_tokens: 1000, ...members } };
    return (
      estimateCost(prices, { organizationId: "o", operation: "chat", request, plan: planOf(model), atMs }) ?? Number.NaN
    );
  };

  test("for a tier that costs more; a cheaper tier may not be granted", () => {
    const standard = price("gpt-5", {});
    expect(price("gpt-5", { service_tier: "priority" })).toBeGreaterThan(standard * 1.9);
    expect(price("gpt-5", { service_tier: "flex" })).toBeGreaterThanOrEqual(standard);
    expect(price("claude-opus-5", { speed: "fast" })).toBeGreaterThan(price("claude-opus-5", {}) * 1.9);
  });

  test.each([
    ["claude-sonnet-4-5", { type: "web_search_20250305", name: "web_search", max_uses: 3 }, 0.03],
    ["gpt-5", { type: "web_search" }, 0.1],
    ["gemini-3-pro-preview", { googleSearch: {} }, 0.14],
    ["gemini-2.5-flash", { google_search: {} }, 0.035],
  ])("%s: for its searches", (model, tool, feesUsd) => {
    const others = { ...tool, type: "code_interpreter", googleSearch: undefined, google_search: undefined };
    expect(price(model, { tools: [tool] }) - price(model, { tools: [others] })).toBeCloseTo(feesUsd, 3);
  });
});

test("no usage within the limits costs more than the estimate", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const cached = { type: "text", text: "cached", cache_control: { type: "ephemeral" } };
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      fc.string({ unit: "grapheme", maxLength: 400 }),
      fc.option(fc.integer({ min: 1, max: 50_000 }), { nil: undefined }),
      fc.integer({ min: 1, max: 8 }),
      fc.record({ read: share, written: share, heard: share, spoken: share, out: share, caches: fc.boolean() }),
      (model, text, max_tokens, n, { read, written, heard, spoken, out, caches }) => {
        const parts = [
          { type: "text", text },
          { type: "input_audio", input_audio: { data: "A".repeat(4_000) } },
        ];
        const members = {
          ...say(caches ? [...parts, cached] : parts),
          n,
          modalities: ["text", "audio"],
          ...(max_tokens !== undefined && { max_tokens }),
        };
        const most = chat(members, model);
        const [prompt, audio] = [Math.floor(most.promptTokens * read), Math.floor(most.audioTokens * heard)];
        const writes = caches ? Math.floor(prompt * written) : 0;
        const completion_tokens = Math.floor(most.completionTokens * out);
        const usage = {
          prompt_tokens: prompt + audio,
          completion_tokens,
          prompt_tokens_details: { audio_tokens: audio },
          completion_tokens_details: { audio_tokens: Math.floor(completion_tokens * spoken) },
          ...(writes > 0 && { cache_creation_input_tokens: writes }),
        };
        const cost = costOf(prices, { organizationId: "o", model, provider: "", usage, atMs }) ?? 0;
        const call = {
          organizationId: "o",
          operation: "chat",
          request: { members },
          plan: planOf(model),
          atMs,
        } as const;
        expect(estimateCost(prices, call)).toBeGreaterThanOrEqual(cost * (1 - 1e-9));
      },
    ),
    { numRuns: 300 },
  );
});

test("token limits are whole numbers", () => {
  for (const name of ["max_tokens", "max_completion_tokens", "max_output_tokens", "n"]) {
    for (const value of [-100_000, 0, 0.5, 1e300, "5", true, [1]]) {
      expect(() => checkTokenBounds({ [name]: value })).toThrow(new RegExp(`^${name} must be a whole number`));
    }
    for (const value of [1, 128_000, null, undefined]) expect(() => checkTokenBounds({ [name]: value })).not.toThrow();
  }
});

/** Silence at 8,000 samples per second. */
function wav(seconds: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt32LE(8_000, 28);
  head.write("data", 36);
  head.writeUInt32LE(seconds * 8_000, 40);
  return Buffer.concat([head, Buffer.alloc(seconds * 8_000)]);
}
