import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../domain/errors.ts";
import type { ChatRequest, Credential } from "../provider.ts";
import { bedrockTranslator } from "./translator.ts";

type Body = Record<string, unknown> & { messages: Array<{ role: string; content: unknown[] }> };

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const keys: Credential = {
  fields: { access_key_id: "AKIDEXAMPLE", secret_access_key: "secret", session_token: "token", region: "eu-west-1" },
};

function send(chat: Partial<ChatRequest>, model = claude, credential = keys) {
  const messages = chat.messages ?? [{ role: "user", content: "Hi" }];
  const target = { provider: "bedrock", model, baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com", credential };
  const call = bedrockTranslator.request({ model: "m", ...chat, messages }, target, Date.parse("2026-01-02T03:04:05Z"));
  return { ...call, body: JSON.parse(call.body.toString()) as Body };
}

const body = (chat: Partial<ChatRequest>, model?: string): Body => send(chat, model).body;
const user = (content: unknown) => ({ role: "user", content });

function refused(chat: Partial<ChatRequest>): string | undefined {
  try {
    send(chat);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
    return Object.keys(error.errors ?? {})[0];
  }
}

describe("a call", () => {
  test("is sent to Converse, or ConverseStream, of the model", () => {
    const root = "https://bedrock-runtime.eu-west-1.amazonaws.com/model";
    expect(send({}).url).toBe(`${root}/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse`);
    expect(send({ stream: true }).url).toBe(`${root}/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream`);
    const arn = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc";
    expect(send({}, arn).url).toContain(
      "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fabc/",
    );
  });

  test("is signed for its time and region", () => {
    const { headers } = send({});
    expect(headers).toMatchObject({ "x-amz-date": "20260102T030405Z", "x-amz-security-token": "token" });
    expect(headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260102\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(send({ user: "other", temperature: 0.1 }).headers["authorization"]).not.toBe(headers["authorization"]);
    const { region: _, ...withoutRegion } = keys.fields;
    expect(send({}, claude, { fields: withoutRegion }).headers).toEqual(headers);
  });

  test("has an API key as a bearer token, and is unsigned without credentials", () => {
    expect(send({}, claude, { apiKey: "ABSK1", fields: {} }).headers).toEqual({
      "content-type": "application/json",
      authorization: "Bearer ABSK1",
    });
    expect(send({}, claude, { fields: {} }).headers).not.toHaveProperty("authorization");
  });

  test("has only requested members", () => {
    expect(body({})).toEqual({ messages: [{ role: "user", content: [{ text: "Hi" }] }] });
    expect(
      body({ max_tokens: 9, temperature: 0.5, top_p: 0.9, stop: "a" }, "meta.llama3-70b-instruct-v1:0"),
    ).toMatchObject({
      inferenceConfig: { maxTokens: 9, temperature: 0.5, topP: 0.9, stopSequences: ["a"] },
    });
  });
});

describe("content", () => {
  const base64 = (latin1: string) => Buffer.from(latin1, "latin1").toString("base64");
  const pdf = base64("%PDF-1.7");
  const file = (data: string, filename?: string) => ({ type: "file", file: { file_data: data, filename } });

  test("images, documents with unique names, and audio are sent as bytes", () => {
    const jpeg = base64("\xff\xd8\xff\xe0");
    const parts = [
      { type: "image_url", image_url: { url: `data:image/png;base64,${jpeg}` } },
      file(`data:application/pdf;base64,${pdf}`, "Q1: report_final.pdf"),
      file(`data:application/pdf;base64,${pdf}`, "Q1: report_final.pdf"),
      file(`data:text/csv;base64,${base64("a,b")}`),
      file(`data:application/octet-stream;base64,${base64("x")}`, "a.docx"),
      { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
    ];
    expect(body({ messages: [user(parts)] }).messages[0]?.content).toEqual([
      { image: { format: "jpeg", source: { bytes: jpeg } } },
      { document: { format: "pdf", name: "Q1- report-final", source: { bytes: pdf } } },
      { document: { format: "pdf", name: "Q1- report-final 2", source: { bytes: pdf } } },
      { document: { format: "csv", name: "document", source: { bytes: base64("a,b") } } },
      { document: { format: "docx", name: "a", source: { bytes: base64("x") } } },
      { audio: { format: "wav", source: { bytes: "UklGRg==" } } },
    ]);
  });

  test.each<[string, unknown]>([
    ["a link", { type: "image_url", image_url: { url: "https://a.example/b.png" } }],
    ["a file of another provider", { type: "file", file: { file_id: "file-1" } }],
    ["a document of an unknown kind", file(`data:application/zip;base64,${base64("PK")}`)],
  ])("%s is refused", (_what, part) => {
    expect(refused({ messages: [user([part])] })).toMatch(/^messages\.0\.content\.0/);
  });

  test("cache_control is a cache point after the marked part", () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const point = { cachePoint: { type: "default", ttl: "1h" } };
    const weather = { type: "function", function: { name: "weather" }, cache_control };
    const sent = body({
      messages: [
        { role: "system", content: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }] },
        { ...user("Hi"), cache_control },
      ],
      tools: [weather],
    });
    expect(sent["system"]).toEqual([{ text: "S" }, { cachePoint: { type: "default" } }]);
    expect(sent.messages[0]?.content).toEqual([{ text: "Hi" }, point]);
    expect(sent["toolConfig"]).toEqual({
      tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }, point],
    });
  });

  test("signed reasoning is sent back to a model that thinks", () => {
    const thinking_blocks = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "eA==" },
    ];
    const messages = [user("Hi"), { role: "assistant", content: "Yes", thinking_blocks }, user("So?")];
    expect(body({ messages, reasoning_effort: "low" }).messages[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
      { reasoningContent: { redactedContent: "eA==" } },
      { text: "Yes" },
    ]);
    expect(body({ messages }).messages[1]?.content).toEqual([{ text: "Yes" }]);
  });
});

describe("tools", () => {
  const tools = [{ type: "function", function: { name: "weather", description: "Tells it" } }];
  const spec = { toolSpec: { name: "weather", description: "Tells it", inputSchema: { json: { type: "object" } } } };
  const call = { id: "a", type: "function", function: { name: "weather", arguments: "{}" } };
  const loop = [
    user("Hi"),
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "a", content: "" },
  ];

  test.each<[unknown, unknown]>([
    [undefined, { tools: [spec] }],
    ["auto", { tools: [spec] }],
    ["required", { tools: [spec], toolChoice: { any: {} } }],
    [
      { type: "function", function: { name: "weather" } },
      { tools: [spec], toolChoice: { tool: { name: "weather" } } },
    ],
    ["none", undefined],
  ])("tool_choice %j is %j", (tool_choice, toolConfig) => {
    expect(body({ tools, tool_choice })["toolConfig"]).toEqual(toolConfig);
  });

  test("that the history requires are kept, and must not be called", () => {
    const sent = body({ messages: loop, tools, tool_choice: "none" });
    expect(sent["toolConfig"]).toEqual({ tools: [spec] });
    expect(JSON.stringify(sent["system"])).toContain("Do not call any tool");
    expect(body({ messages: loop })["toolConfig"]).toMatchObject({ tools: [{ toolSpec: { name: "weather" } }] });
    expect(sent.messages[2]?.content).toEqual([{ toolResult: { toolUseId: "a", content: [] } }]);
  });

  test("of other kinds are refused, except Bedrock's own; parallel_tool_calls is not supported", () => {
    expect(refused({ tools: [{ type: "web_search_20250305", name: "web_search" }] })).toBe("tools.0.type");
    const own = { systemTool: { name: "nova_grounding" } };
    expect(body({ tools: [own] })["toolConfig"]).toEqual({ tools: [own] });
    expect(send({ tools, parallel_tool_calls: false }).adjusted).toEqual(["parallel_tool_calls"]);
  });
});

describe("families of models", () => {
  const response_format = {
    type: "json_schema",
    json_schema: { name: "a name", schema: { type: "object", properties: { a: { type: "string", minLength: 1 } } } },
  };

  test("a JSON schema is in outputConfig, or in a tool", () => {
    const { outputConfig } = body({ response_format });
    const schema = {
      type: "object",
      properties: { a: { type: "string", description: "{minLength: 1}" } },
      additionalProperties: false,
    };
    expect(outputConfig).toEqual({
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { schema: JSON.stringify(schema), name: "a_name" } },
      },
    });
    for (const model of ["anthropic.claude-opus-4-7", "amazon.nova-pro-v1:0"]) {
      const sent = body({ response_format }, model);
      expect(sent["outputConfig"]).toBeUndefined();
      expect(sent["toolConfig"]).toMatchObject({ toolChoice: { tool: { name: "spanway_json_answer" } } });
    }
  });

  test.each<[string, object]>([
    [
      claude,
      {
        additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2_000 } },
        inferenceConfig: { maxTokens: 4_000 },
      },
    ],
    [
      "anthropic.claude-opus-4-7",
      { additionalModelRequestFields: { thinking: { type: "adaptive" } }, outputConfig: { effort: "medium" } },
    ],
    [
      "amazon.nova-2-lite-v1:0",
      { additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } } },
    ],
    ["openai.gpt-oss-120b-1:0", { additionalModelRequestFields: { reasoning_effort: "medium" } }],
  ])("%s gets reasoning in its own form", (model, expected) => {
    expect(body({ reasoning_effort: "medium", max_tokens: 4_000 }, model)).toMatchObject(expected);
  });

  test("others get no reasoning, and it is reported", () => {
    expect(send({ reasoning_effort: "low" }, "meta.llama3-70b-instruct-v1:0").adjusted).toEqual(["reasoning_effort"]);
  });

  test("parameters follow the common policy; those of Converse and of the model are passed on", () => {
    expect(refused({ n: 2 })).toBe("n");
    expect(refused({ logprobs: true })).toBe("logprobs");
    expect(send({ temperature: 1.7, seed: 1, user: "u" }).adjusted?.toSorted()).toEqual([
      "seed",
      "temperature",
      "user",
    ]);
    const sent = body({
      guardrailConfig: { guardrailIdentifier: "g" },
      top_k: 5,
      anthropic_beta: ["b"],
      service_tier: "flex",
    });
    expect(sent).toMatchObject({
      guardrailConfig: { guardrailIdentifier: "g" },
      additionalModelRequestFields: { top_k: 5, anthropic_beta: ["b"] },
      serviceTier: { type: "flex" },
    });
  });
});
