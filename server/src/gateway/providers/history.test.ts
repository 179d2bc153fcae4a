import { expect, test } from "vitest";
import { ServiceError } from "../../domain/errors.ts";
import { anthropicTranslator } from "./anthropic/translator.ts";
import { bedrockTranslator } from "./bedrock/translator.ts";
import { geminiTranslator } from "./gemini/translator.ts";
import type { ChatMessage, ChatTranslator, Target } from "./provider.ts";
import { call, runStream } from "./stream.fixture.ts";

/** Conversations with responses of translators, sent back in the form that the provider requires. */

type Sent = Record<string, unknown> & { messages: Array<{ role: string; content: Array<Record<string, unknown>> }> };

const at = (provider: string, model: string): Target => ({
  provider,
  model,
  baseUrl: "https://a.example",
  credential: { apiKey: "k", fields: { region: "eu-west-1" } },
});
const claude = at("anthropic", "claude-sonnet-4-5");
const claudeOnBedrock = at("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0");
const gemini = at("gemini", "gemini-3-pro-preview");

function send(translator: ChatTranslator, target: Target, messages: unknown[], more: Record<string, unknown> = {}) {
  const sent = translator.request({ model: "m", messages, ...more }, target, 0);
  return { ...sent, body: JSON.parse(sent.body.toString()) as Sent };
}
const user = (content: unknown) => ({ role: "user", content });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "done" });

const blocks = [
  { type: "thinking", thinking: "First.", signature: "s1" },
  { type: "text", text: "Let me look. 🔎" },
  { type: "thinking", thinking: "Second.", signature: "s2" },
  { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
  { type: "redacted_thinking", data: "hidden" },
  { type: "tool_use", id: "toolu_2", name: "look", input: { at: 2 } },
];

const sse = (event: Record<string, unknown>): string =>
  `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
function anthropicStream(): Buffer {
  const events = blocks.flatMap((block, index): Array<Record<string, unknown>> => {
    const delta = (value: Record<string, unknown>) => ({ type: "content_block_delta", index, delta: value });
    const start = (content_block: unknown) => ({ type: "content_block_start", index, content_block });
    const stop = { type: "content_block_stop", index };
    if (block.type === "text")
      return [start({ type: "text", text: "" }), delta({ type: "text_delta", text: block.text }), stop];
    if (block.type === "redacted_thinking") return [start(block), stop];
    if (block.type === "tool_use") {
      return [
        start({ ...block, input: {} }),
        delta({ type: "input_json_delta", partial_json: JSON.stringify(block.input) }),
        stop,
      ];
    }
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking: block.thinking }),
      delta({ type: "signature_delta", signature: block.signature }),
      stop,
    ];
  });
  const message = { id: "msg_1", usage: { input_tokens: 1, output_tokens: 1 } };
  const ends = [{ type: "message_delta", delta: { stop_reason: "tool_use" } }, { type: "message_stop" }];
  return Buffer.from([{ type: "message_start", message }, ...events, ...ends].map(sse).join(""));
}

const whole = { content: blocks, stop_reason: "tool_use", usage: { input_tokens: 1, output_tokens: 1 } };
const answers: ReadonlyArray<readonly [how: string, answer: () => ChatMessage | undefined]> = [
  ["whole", () => anthropicTranslator.reply(Buffer.from(JSON.stringify(whole)), call).choices[0]?.message],
  ["streamed", () => runStream(anthropicTranslator, [anthropicStream()]).message],
];

test.each(answers)("P5: interleaved thinking of a %s response is sent back in its order", (_how, answer) => {
  const message = {
    ...answer(),
    thinking_blocks: (answer()?.thinking_blocks ?? []).map((block, index) => ({ index, ...(block as object) })),
  };
  const messages = [user("Look."), message, result("toolu_1"), result("toolu_2")];
  const thinking = { thinking: { type: "enabled", budget_tokens: 2_048 } };
  expect(send(anthropicTranslator, claude, messages, thinking).body.messages[1]?.content).toEqual(blocks);
  const onBedrock = send(bedrockTranslator, claudeOnBedrock, messages, thinking).body.messages[1]?.content;
  expect(onBedrock?.map((block) => Object.keys(block)[0])).toEqual([
    "reasoningContent",
    "text",
    "reasoningContent",
    "toolUse",
    "reasoningContent",
    "toolUse",
  ]);
});

test("P5: a response of Bedrock keeps its order, also when turns are merged", () => {
  const reasoning = (text: string) => ({ reasoningContent: { reasoningText: { text, signature: `of ${text}` } } });
  const content = [reasoning("a"), { text: "One." }, reasoning("b"), { text: "Two." }];
  const reply = { output: { message: { content } }, stopReason: "end_turn" };
  const message = bedrockTranslator.reply(Buffer.from(JSON.stringify(reply)), call).choices[0]?.message;
  const thinking = { thinking: { type: "enabled", budget_tokens: 2_048 } };
  const sent = send(bedrockTranslator, claudeOnBedrock, [user("Hi."), message, message, user("And?")], thinking);
  expect(sent.body.messages[1]?.content).toEqual([...content, ...content]);
});

test("P5: thinking with a missing or invalid position comes first, and nothing is lost", () => {
  const thought = { type: "thinking", thinking: "t", signature: "s" };
  for (const after of [undefined, null, { text: -4, calls: "x" }, "all"]) {
    const message = { role: "assistant", content: "Said.", thinking_blocks: [{ ...thought, after }] };
    const sent = send(anthropicTranslator, claude, [user("Hi."), message, user("And?")], { reasoning_effort: "low" });
    expect(sent.body.messages[1]?.content).toEqual([thought, { type: "text", text: "Said." }]);
  }
  const late = {
    role: "assistant",
    content: "Said.",
    thinking_blocks: [{ ...thought, after: { text: 999, calls: 9 } }],
  };
  const sent = send(anthropicTranslator, claude, [user("Hi."), late, user("And?")], { reasoning_effort: "low" });
  expect(sent.body.messages[1]?.content).toEqual([{ type: "text", text: "Said." }, thought]);
});

const cached = { cache_control: { type: "ephemeral" } };
const text = (value: string, more: object = {}) => ({ type: "text", text: value, ...more });
const file = (filename: string, more: object = {}) => ({
  type: "file",
  file: { filename, file_data: `data:text/plain;base64,${Buffer.from("x").toString("base64")}` },
  ...more,
});
const pdf = {
  type: "file",
  file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQ=" },
  ...cached,
};

test.each<[what: string, parts: unknown[], kinds: string[], isMoved: boolean]>([
  ["before the document", [text("a"), file("a.md", cached)], ["text", "cachePoint", "document"], true],
  [
    "before all of the documents",
    [text("a"), file("a.md"), file("b.csv", cached)],
    ["text", "cachePoint", "document", "document"],
    true,
  ],
  ["nowhere if nothing precedes the document", [file("a.md", cached), text("a")], ["document", "text"], true],
  ["after a PDF, as requested", [pdf], ["document", "cachePoint"], false],
  ["after the text that follows", [file("a.md"), text("a", cached)], ["document", "text", "cachePoint"], false],
  ["once", [text("a", cached), file("a.md", cached)], ["text", "cachePoint", "document"], true],
])("P8: Bedrock's cache point is placed %s", (_what, parts, kinds, isMoved) => {
  const sent = send(bedrockTranslator, claudeOnBedrock, [user(parts)]);
  expect(sent.body.messages[0]?.content.map((block) => Object.keys(block)[0])).toEqual(kinds);
  expect(sent.adjusted ?? []).toEqual(isMoved ? ["cache_control"] : []);
});

test("P8: a response that Bedrock continues does not end in whitespace, also before a cache point", () => {
  const last = (content: unknown) =>
    send(bedrockTranslator, claudeOnBedrock, [user("Hi."), { role: "assistant", content }]).body.messages[1]
      ?.content[0];
  expect(last("It is \n ")).toEqual({ text: "It is" });
  expect(last([text("It is ", cached)])).toEqual({ text: "It is" });
});

test.each<[model: string, effort: string, sent: Record<string, unknown>]>([
  ["openai.gpt-oss-120b-1:0", "minimal", { reasoning_effort: "low" }],
  ["openai.gpt-oss-120b-1:0", "xhigh", { reasoning_effort: "high" }],
  ["openai.gpt-oss-120b-1:0", "none", { reasoning_effort: "low" }],
  ["amazon.nova-2-lite-v1:0", "max", { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }],
  ["amazon.nova-2-lite-v1:0", "none", { reasoningConfig: { type: "disabled" } }],
])("P8: %s gets the effort %s in its own form", (model, effort, expected) => {
  const sent = send(bedrockTranslator, at("bedrock", model), [user("Hi.")], { reasoning_effort: effort });
  expect(sent.body["additionalModelRequestFields"]).toEqual(expected);
  const isSame = model.includes("nova") && effort === "none";
  expect(sent.adjusted ?? []).toEqual(isSame ? [] : ["reasoning_effort"]);
});

const strictTool = (name: string, properties: Record<string, unknown>, required: string[]) => ({
  type: "function",
  function: { name, strict: true, parameters: { type: "object", properties, required, additionalProperties: false } },
});
const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, value]));
const plain = { type: "string" };
const union = { type: ["string", "null"] };

test.each<[what: string, tools: unknown[], isStrict: boolean]>([
  ["20 strict tools", Array.from({ length: 20 }, (_, i) => strictTool(`t${i}`, {}, [])), true],
  ["21 strict tools", Array.from({ length: 21 }, (_, i) => strictTool(`t${i}`, {}, [])), false],
  ["24 optional members", [strictTool("t", many(24, plain), [])], true],
  [
    "25 optional members of two tools",
    [strictTool("t", many(12, plain), []), strictTool("u", many(13, plain), [])],
    false,
  ],
  ["16 unions", [strictTool("t", many(16, union), Object.keys(many(16, union)))], true],
  ["17 unions", [strictTool("t", many(17, union), Object.keys(many(17, union)))], false],
])("P12: %s: all are strict, or none", (_what, tools, isStrict) => {
  const ofAnthropic = send(anthropicTranslator, claude, [user("Hi.")], { tools });
  expect(
    new Set((ofAnthropic.body["tools"] as Array<{ strict?: boolean }>).map(({ strict }) => strict === true)),
  ).toEqual(new Set([isStrict]));
  expect(ofAnthropic.adjusted ?? []).toEqual(isStrict ? [] : ["tools.function.strict"]);
  const ofBedrock = send(bedrockTranslator, claudeOnBedrock, [user("Hi.")], { tools });
  expect(JSON.stringify(ofBedrock.body).includes('"strict":true')).toBe(isStrict);
});

test("P12: a response schema beyond the limits becomes a tool", () => {
  const format = (count: number) => ({
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "n",
        schema: { type: "object", properties: many(count, plain), additionalProperties: false },
      },
    },
  });
  expect(send(anthropicTranslator, claude, [user("Hi.")], format(24)).body["output_config"]).toBeDefined();
  const beyond = send(anthropicTranslator, claude, [user("Hi.")], format(25)).body;
  expect([beyond["output_config"], (beyond["tools"] as unknown[]).length]).toEqual([undefined, 1]);
});

const middle = [
  user("Two."),
  { role: "assistant", content: "Three." },
  { role: "system", content: "Four." },
  user("Five."),
];

test.each<[provider: string, translator: ChatTranslator, target: Target]>([
  ["anthropic", anthropicTranslator, claude],
  ["bedrock", bedrockTranslator, claudeOnBedrock],
  ["gemini", geminiTranslator, gemini],
])("P13: system text in the middle keeps its place at %s, and is reported", (_provider, translator, target) => {
  const sent = send(translator, target, [{ role: "system", content: "One." }, ...middle]);
  const sentBody = JSON.stringify(sent.body);
  const places = ["Two.", "Three.", "<system>\\nFour.\\n</system>", "Five."].map((words) => sentBody.indexOf(words));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(Math.min(...places)).toBeGreaterThan(-1);
  expect(sent.adjusted).toContain("messages.system");
});

test.each<[provider: string, translator: ChatTranslator, target: Target, left: string[]]>([
  [
    "anthropic",
    anthropicTranslator,
    claude,
    ["safetySettings", "generationConfig", "cachedContent", "guardrailConfig", "min_p"],
  ],
  [
    "gemini",
    geminiTranslator,
    gemini,
    ["output_config", "anthropic_beta", "guardrailConfig", "min_p", "enable_thinking"],
  ],
  [
    "bedrock",
    bedrockTranslator,
    claudeOnBedrock,
    ["safetySettings", "generationConfig", "cachedContent", "enable_thinking"],
  ],
])("P2: %s does not get members of other dialects", (_provider, translator, target, left) => {
  const sent = send(translator, target, [user("Hi.")], Object.fromEntries(left.map((name) => [name, {}])));
  for (const name of left) expect(JSON.stringify(sent.body)).not.toContain(`"${name}":{}`);
  expect(sent.adjusted).toEqual(left);
});

test("P16: Cloud Storage objects and file ids are passed to the providers that store them", () => {
  const links = [
    { type: "image_url", image_url: { url: "gs://bucket/a.png" } },
    { type: "file", file: { file_data: "gs://bucket/a.pdf" } },
    { type: "file", file: { file_id: "gs://bucket/b", format: "application/pdf" } },
    { type: "file", file: { file_id: "files/abc", filename: "a.mp4" } },
  ];
  const { contents } = send(geminiTranslator, { ...gemini, credential: { apiKey: "k", fields: { project: "p" } } }, [
    user(links),
  ]).body as unknown as {
    contents: Array<{ parts: Array<{ fileData: unknown }> }>;
  };
  expect(contents[0]?.parts.map(({ fileData }) => fileData)).toEqual([
    { mimeType: "image/png", fileUri: "gs://bucket/a.png" },
    { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" },
    { mimeType: "application/pdf", fileUri: "gs://bucket/b" },
    { mimeType: "video/mp4", fileUri: "https://a.example/v1beta/files/abc" },
  ]);
  const own = send(anthropicTranslator, claude, [user([{ type: "image_url", image_url: { file_id: "file_011" } }])]);
  expect(own.body.messages[0]?.content).toEqual([{ type: "image", source: { type: "file", file_id: "file_011" } }]);
  expect(own.headers["anthropic-beta"]).toBe("files-api-2025-04-14");
  for (const [translator, target] of [
    [anthropicTranslator, claude],
    [bedrockTranslator, claudeOnBedrock],
  ] as const) {
    expect(() => send(translator, target, [user([links[0]])])).toThrow(/^messages\.0\.content\.0.*: .*send/);
  }
});

const legacy = [
  user("Look."),
  { role: "assistant", content: null, function_call: { name: "look", arguments: '{"at": "Zür' } },
  { role: "function", name: "look", content: "Seen." },
];

test.each<[provider: string, translator: ChatTranslator, target: Target]>([
  ["anthropic", anthropicTranslator, claude],
  ["bedrock", bedrockTranslator, claudeOnBedrock],
  ["gemini", geminiTranslator, gemini],
])("P18: %s gets legacy function calls, and truncated arguments, as tool calls", (_provider, translator, target) => {
  const sent = send(translator, target, legacy);
  expect(JSON.stringify(sent.body)).toMatch(/"(?:input|args)":\{"at":"Zür"\}/);
  expect(JSON.stringify(sent.body)).toContain("Seen.");
  expect(sent.adjusted).toContain("messages.tool_calls.function.arguments");
});

test("P18: web search uses the provider's own tool, or is refused with an alternative", () => {
  const options = { web_search_options: { user_location: { type: "approximate", approximate: { country: "CH" } } } };
  expect(send(anthropicTranslator, claude, [user("Hi.")], options).body["tools"]).toEqual([
    { type: "web_search_20250305", name: "web_search", user_location: { type: "approximate", country: "CH" } },
  ]);
  expect(send(geminiTranslator, gemini, [user("Hi.")], options).body["tools"]).toEqual([{ googleSearch: {} }]);
  expect(() => send(bedrockTranslator, claudeOnBedrock, [user("Hi.")], options)).toThrow(ServiceError);
  expect(() => send(bedrockTranslator, claudeOnBedrock, [user("Hi.")], options)).toThrow(
    /web_search_options: .*search tool/,
  );
  expect(() => send(anthropicTranslator, claude, [user("Hi.")], { functions: [{ name: "f" }] })).toThrow(
    /send them as tools/,
  );
});

test("P18: Anthropic's own parts are passed to it with all their members", () => {
  const source = { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQ=" };
  const document = { type: "document", source, title: "A", context: "c", citations: { enabled: true } };
  expect(send(anthropicTranslator, claude, [user([document])]).body.messages[0]?.content).toEqual([document]);
  expect(JSON.stringify(send(geminiTranslator, gemini, [user([document])]).body)).toContain(
    '"mimeType":"application/pdf"',
  );
});
