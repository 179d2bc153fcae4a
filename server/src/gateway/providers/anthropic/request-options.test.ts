import { describe, expect, test } from "vitest";
import type { ChatRequest } from "../provider.ts";
import { body, calls, refused, result, send, user, weather } from "./request.fixture.ts";

describe("tools", () => {
  const tools = [weather, { type: "function", function: { name: "time", description: "Tells it", parameters: {} } }];

  test.each([
    [undefined, undefined, undefined],
    ["auto", undefined, { type: "auto" }],
    ["none", undefined, { type: "none" }],
    ["required", undefined, { type: "any" }],
    [{ type: "function", function: { name: "time" } }, undefined, { type: "tool", name: "time" }],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    ["required", false, { type: "any", disable_parallel_tool_use: true }],
    ["none", false, { type: "none" }],
  ])("tool_choice %j, parallel %j is %j", (tool_choice, parallel_tool_calls, sent) => {
    expect(body({ tools, tool_choice, parallel_tool_calls })["tool_choice"]).toEqual(sent);
  });

  test("are declared with an object schema, strict if the model supports it", () => {
    const strict = (parameters: object) => ({ type: "function", function: { name: "s", strict: true, parameters } });
    const closed = { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"] };
    expect(body({ tools })["tools"]).toEqual([
      { name: "weather", input_schema: { type: "object", properties: {} } },
      { name: "time", description: "Tells it", input_schema: { type: "object" } },
    ]);
    expect(body({ tools: [strict(closed)] })["tools"]).toEqual([
      {
        name: "s",
        strict: true,
        input_schema: {
          type: "object",
          properties: { n: { type: "integer", description: "{minimum: 1}" } },
          required: ["n"],
          additionalProperties: false,
        },
      },
    ]);
    expect(body({ tools: [strict(closed)] }, "claude-sonnet-4-0")["tools"]).toEqual([
      { name: "s", input_schema: closed },
    ]);
    const open = { type: "object", additionalProperties: { type: "string" } };
    expect(body({ tools: [strict(open)] })["tools"]).toEqual([{ name: "s", input_schema: open }]);
  });

  test("of Anthropic's own kinds are passed on; allowed_tools are filtered", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    expect(body({ tools: [search, weather] })["tools"]).toEqual([search, expect.objectContaining({ name: "weather" })]);
    const allowed_tools = { mode: "required", tools: [{ type: "function", function: { name: "time" } }] };
    const sent = body({ tools, tool_choice: { type: "allowed_tools", allowed_tools } });
    expect(sent["tools"]).toMatchObject([{ name: "time" }]);
    expect(sent["tool_choice"]).toEqual({ type: "any" });
  });

  test.each([
    ["tool_choice", { tools, tool_choice: { type: "function", function: { name: "nobody" } } }],
    ["tools.0.type", { tools: [{ type: "custom", custom: { name: "x" } }] }],
    ["tools", { tools: [{ type: "function", function: { name: "spanway_json_answer" } }] }],
  ])("an invalid %s is refused", (param, chat) => {
    expect(refused(chat)).toBe(param);
  });
});

describe("response_format", () => {
  const schema = {
    type: "object",
    properties: { n: { type: ["integer", "null"] }, kind: { oneOf: [{ const: "a" }, { $ref: "#/$defs/b" }] } },
    required: ["n"],
    $defs: { b: { type: "string", maxLength: 3, format: "hex" } },
  };
  const response_format = { type: "json_schema", json_schema: { name: "n", schema, strict: true } };

  test("is a structured output if the model supports it, with a reduced schema", () => {
    expect(body({ response_format })["output_config"]).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { n: { type: ["integer", "null"] }, kind: { anyOf: [{ const: "a" }, { $ref: "#/$defs/b" }] } },
          required: ["n"],
          $defs: { b: { type: "string", description: '{maxLength: 3, format: "hex"}' } },
          additionalProperties: false,
        },
      },
    });
  });

  const tree = { type: "object", properties: { next: { $ref: "#" } } };
  const map = { type: "object", properties: { of: { type: "object", additionalProperties: { type: "string" } } } };
  test.each<[string, object, string]>([
    ["an older model", schema, "claude-opus-4-1"],
    ["a recursive schema", tree, "claude-opus-5"],
    ["a map with arbitrary keys", map, "claude-sonnet-4-5"],
  ])("is a forced tool for %s", (_what, given, model) => {
    const request = { response_format: { type: "json_schema", json_schema: { name: "n", schema: given } } };
    const sent = body(request, model);
    expect(sent["output_config"]).toBeUndefined();
    expect(sent["tools"]).toMatchObject([{ name: "spanway_json_answer", input_schema: given }]);
    expect(sent["tool_choice"]).toMatchObject({ type: "tool", name: "spanway_json_answer" });
    expect(body({ ...request, tools: [weather] }, model)["tool_choice"]).toEqual({ type: "any" });
    expect(body({ ...request, tools: [weather], tool_choice: "required" }, model)["tools"]).toHaveLength(1);
  });

  test("without a schema is an instruction; text has no effect", () => {
    expect(JSON.stringify(body({ response_format: { type: "json_object" } })["system"])).toContain("one JSON object");
    expect(body({ response_format: { type: "text" } })).toEqual(body({}));
    expect(refused({ response_format: { type: "grammar" } })).toBe("response_format.type");
  });
});

describe("reasoning", () => {
  const sent = (chat: Partial<ChatRequest>, model: string) => {
    const { body: all, adjusted } = send(chat, model);
    const { thinking, output_config, max_tokens, temperature } = all;
    return { thinking, output_config, max_tokens, temperature, adjusted };
  };

  test("is a budget within the token bound, and leaves sampling to the model", () => {
    const request = { reasoning_effort: "medium", max_tokens: 10_000, temperature: 0.2 };
    expect(sent(request, "claude-sonnet-4-5")).toEqual({
      thinking: { type: "enabled", budget_tokens: 5_000 },
      output_config: undefined,
      max_tokens: 10_000,
      temperature: undefined,
      adjusted: ["temperature"],
    });
    expect(sent({ reasoning_effort: "high" }, "claude-sonnet-4-5")).toMatchObject({
      thinking: { budget_tokens: 25_600 },
      max_tokens: 64_000,
    });
  });

  test.each<[string, Partial<ChatRequest>, string]>([
    ["the token bound is too small", { max_tokens: 1_000 }, "claude-sonnet-4-5"],
    ["a tool call is forced", { tools: [weather], tool_choice: "required" }, "claude-sonnet-4-5"],
    ["the model does not think", {}, "claude-3-5-haiku-latest"],
    [
      "a response in progress began without it",
      { messages: [user("Hi"), calls("a"), result("a")], tools: [weather] },
      "claude-sonnet-4-5",
    ],
  ])("is omitted and reported if %s", (_when, chat, model) => {
    expect(sent({ reasoning_effort: "low", ...chat }, model)).toMatchObject({
      thinking: undefined,
      adjusted: ["reasoning_effort"],
    });
  });

  test.each<[string, string, object | undefined, object | undefined]>([
    ["claude-opus-5", "xhigh", { type: "adaptive", display: "summarized" }, { effort: "xhigh" }],
    ["claude-opus-5", "minimal", { type: "adaptive", display: "summarized" }, { effort: "low" }],
    ["claude-opus-5", "none", { type: "disabled" }, undefined],
    ["claude-opus-4-7", "none", undefined, undefined],
    ["claude-sonnet-4-6", "max", { type: "adaptive", display: "summarized" }, { effort: "high" }],
    ["claude-fable-5", "none", { type: "adaptive", display: "summarized" }, { effort: "low" }],
  ])("of %s with effort %s is %j, %j", (model, reasoning_effort, thinking, output_config) => {
    expect(sent({ reasoning_effort }, model)).toMatchObject({ thinking, output_config });
  });

  test("is turned off for a forced tool, if the model allows it", () => {
    const chat = { reasoning_effort: "max", tools: [weather], tool_choice: "required" };
    expect(sent(chat, "claude-opus-5")).toMatchObject({
      thinking: { type: "disabled" },
      output_config: { effort: "high" },
      adjusted: ["reasoning_effort"],
    });
  });

  test("by Anthropic's own parameter is kept, with room for the response", () => {
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    expect(sent({ thinking, max_tokens: 500 }, "claude-sonnet-4-5")).toMatchObject({ thinking, max_tokens: 2_500 });
    expect(sent({ thinking }, "claude-opus-5")).toMatchObject({
      thinking: { type: "adaptive" },
      adjusted: ["thinking"],
    });
    expect(refused({ reasoning_effort: "extreme" })).toBe("reasoning_effort");
  });

  test("is sent back signed and first, to a model that thinks", () => {
    const signed = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
    const redacted = { type: "redacted_thinking", data: "eA==" };
    const thinking_blocks = [{ ...signed, extra: 1 }, { type: "thinking", thinking: "unsigned" }, redacted];
    const list = [user("Hi"), { ...calls("a"), thinking_blocks }, result("a")];
    const chat = { messages: list, tools: [weather], reasoning_effort: "low" };
    const content = (request: Partial<ChatRequest>) => body(request).messages[1]?.content.map(({ type }) => type);
    expect(body(chat).messages[1]?.content.slice(0, 2)).toEqual([signed, redacted]);
    expect(body(chat)["thinking"]).toMatchObject({ type: "enabled" });
    expect(content({ ...chat, reasoning_effort: null })).toEqual(["tool_use"]);
  });
});

describe("parameters without a counterpart", () => {
  test.each<[string, unknown]>([
    ["n", 3],
    ["logprobs", true],
    ["top_logprobs", 2],
    ["logit_bias", { "1": 100 }],
    ["modalities", ["text", "audio"]],
    ["audio", { voice: "alloy" }],
    ["functions", [{}]],
    ["web_search_options", "yes"],
    ["temperature", 2.1],
    ["temperature", "hot"],
    ["max_tokens", 0],
    ["stop", [1]],
  ])("%s %j is refused", (name, value) => {
    expect(refused({ [name]: value })).toBe(name);
  });

  test.each<[string, unknown]>([
    ["temperature", 1.7],
    ["frequency_penalty", 0.5],
    ["presence_penalty", -1],
    ["seed", 7],
    ["verbosity", "low"],
    ["service_tier", "flex"],
    ["store", true],
    ["stop", ["\n"]],
  ])("%s %j is omitted or lowered, and reported", (name, value) => {
    const call = send({ [name]: value });
    expect(call.adjusted).toEqual([name]);
    expect(call.body[name]).toBe(name === "temperature" ? 1 : undefined);
    expect(call.body["stop_sequences"]).toBeUndefined();
  });

  test("parameters without effect are omitted silently, and Anthropic's own are passed on", () => {
    const nothing = {
      n: 1,
      logprobs: false,
      logit_bias: {},
      presence_penalty: 0,
      top_logprobs: null,
      modalities: ["text"],
    };
    const passed = { metadata: { a: "b" }, stream_options: { include_usage: true }, prompt_cache_key: "k" };
    const call = send({ ...nothing, ...passed });
    expect(call.adjusted).toBeUndefined();
    expect(call.body).toEqual(body({}));
    expect(body({ container: "c", top_k: 5 })).toMatchObject({ container: "c", top_k: 5 });
    expect(send({ anthropic_beta: ["a-1", "b-2"] }).headers["anthropic-beta"]).toBe("a-1,b-2");
    expect(refused({ anthropic_beta: ["a\r\nb"] })).toBe("anthropic_beta");
  });

  test("user becomes metadata.user_id; temperature takes precedence over top_p", () => {
    expect(body({ user: "u1" })["metadata"]).toEqual({ user_id: "u1" });
    const call = send({ temperature: 0.3, top_p: 0.9 });
    expect([call.body["temperature"], call.body["top_p"], call.adjusted]).toEqual([0.3, undefined, ["top_p"]]);
    expect(send({ temperature: 0, top_p: 0.9 }, "claude-opus-4-8").adjusted).toEqual(["temperature", "top_p"]);
  });

  test.each([
    ["claude-3-haiku-20240307", 4_096],
    ["claude-3-5-sonnet-latest", 8_192],
    ["claude-3-7-sonnet-latest", 64_000],
    ["claude-opus-4-20250514", 32_000],
    ["claude-opus-4-6", 128_000],
    ["claude-sonnet-9", 128_000],
    ["some-other-model", 4_096],
  ])("%s may generate %d tokens by default", (model, max_tokens) => {
    expect(body({}, model)["max_tokens"]).toBe(max_tokens);
    expect(body({ max_tokens: 7 }, model)["max_tokens"]).toBe(7);
  });
});
