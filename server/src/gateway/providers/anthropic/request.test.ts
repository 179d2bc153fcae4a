import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../domain/errors.ts";
import type { ChatRequest, Target } from "../provider.ts";
import { anthropicTranslator } from "./translator.ts";

type Body = Record<string, unknown> & { messages: Array<{ role: string; content: Array<Record<string, unknown>> }> };

const target: Target = {
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  baseUrl: "https://api.anthropic.com",
  credential: { apiKey: "sk-ant-1", fields: {} },
};

function send(chat: Partial<ChatRequest>, model = target.model) {
  const messages = chat.messages ?? [{ role: "user", content: "Hi" }];
  const call = anthropicTranslator.request({ model: "m", ...chat, messages }, { ...target, model }, 0);
  return { ...call, body: JSON.parse(call.body.toString()) as Body };
}

const body = (chat: Partial<ChatRequest>, model?: string): Body => send(chat, model).body;
const messages = (...list: unknown[]) => body({ messages: list }).messages;

/** The member that a request is refused for. */
function refused(chat: Partial<ChatRequest>, model?: string): string | undefined {
  try {
    send(chat, model);
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    if (error instanceof ServiceError) {
      expect(error.code).toBe("invalid_request");
      return Object.keys(error.errors ?? {})[0];
    }
  }
  return undefined;
}

const user = (content: unknown) => ({ role: "user", content });
const calls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: `f_${id}`, arguments: `{"of":"${id}"}` } })),
});
const result = (id: string, content: unknown = `result of ${id}`) => ({ role: "tool", tool_call_id: id, content });
const weather = { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } };

test("goes to the Messages API with its version and key, and nothing of OpenAI's names", () => {
  const {
    method,
    url,
    headers,
    body: sent,
  } = send({ max_completion_tokens: 9, max_tokens: 5, stream: true, stop: "a" });
  expect([method, url]).toEqual(["POST", "https://api.anthropic.com/v1/messages"]);
  expect(headers).toEqual({
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": "sk-ant-1",
  });
  expect(sent).toEqual({
    model: "claude-sonnet-4-5",
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    stop_sequences: ["a"],
    stream: true,
  });
});

describe("messages", () => {
  test("system and developer text is one system prompt, in order", () => {
    const sent = body({
      messages: [
        { role: "system", content: "A" },
        user("Hi"),
        { role: "developer", content: [{ type: "text", text: "B", cache_control: { type: "ephemeral" } }] },
      ],
    });
    expect(sent["system"]).toEqual([
      { type: "text", text: "A" },
      { type: "text", text: "B", cache_control: { type: "ephemeral" } },
    ]);
    expect(sent.messages).toHaveLength(1);
  });

  test.each(["", null, "  ", undefined, [{ type: "text", text: "" }]])("no block of blank text for %j", (content) => {
    const sent = messages(user("Hi"), { ...calls("a"), content }, result("a"), user(""));
    expect(sent.map(({ content: blocks }) => blocks.map(({ type }) => type))).toEqual([
      ["text"],
      ["tool_use"],
      ["tool_result"],
    ]);
  });

  test("results in any order are one user turn ahead of its text, each to its call", () => {
    const png = `data:image/png;base64,${Buffer.from("\x89PNG\r\n\x1a\n…", "latin1").toString("base64")}`;
    const sent = messages(
      user("Hi"),
      calls("a", "b", "c"),
      result("c"),
      result("a", [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: png } },
      ]),
      result("b", ""),
      user("And now?"),
    );
    expect(sent).toHaveLength(3);
    expect(sent[1]?.content).toEqual(
      ["a", "b", "c"].map((id) => ({ type: "tool_use", id, name: `f_${id}`, input: { of: id } })),
    );
    expect(sent[2]?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [
          { type: "text", text: "see" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: png.split(",")[1] } },
        ],
      },
      { type: "tool_result", tool_use_id: "b" },
      { type: "tool_result", tool_use_id: "c", content: "result of c" },
      { type: "text", text: "And now?" },
    ]);
  });

  test.each<[string, string, unknown[]]>([
    ["a call without result at the end", "messages.1.tool_calls", [user("Hi"), calls("a", "b"), result("b")]],
    ["one before the next answer", "messages.1.tool_calls", [user("Hi"), calls("a"), user("x"), calls("b")]],
    ["a result of no call", "messages.1.tool_call_id", [user("Hi"), result("a")]],
    ["a second result", "messages.3.tool_call_id", [user("Hi"), calls("a"), result("a"), result("a")]],
    ["calls of one id", "messages.1.tool_calls", [user("Hi"), calls("a", "a")]],
    ["a role that is unknown", "messages.0.role", [{ role: "function", content: "x" }]],
    ["a part that is unknown", "messages.0.content.0.type", [user([{ type: "video_url" }])]],
    ["no messages", "messages", []],
  ])("%s is refused by name", (_what, param, list) => {
    expect(refused({ messages: list })).toBe(param);
  });

  test("ids of other providers become such as are taken, the same for call and result", () => {
    const id = "gen.1:weather/ü";
    const [, assistant, last] = messages(user("Hi"), calls(id), result(id));
    expect(assistant?.content[0]?.["id"]).toMatch(/^[\w-]{1,64}$/);
    expect(last?.content[0]?.["tool_use_id"]).toBe(assistant?.content[0]?.["id"]);
  });

  test("numbers keep their digits on the way into arguments", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: '{"n":12345678901234567890}' } };
    const { body: bytes } = anthropicTranslator.request(
      { model: "m", messages: [user("Hi"), { role: "assistant", tool_calls: [call] }, result("a")] },
      target,
      0,
    );
    expect(bytes.toString()).toContain('"input":{"n":12345678901234567890}');
  });

  test("tools of the history are declared where the request has none, and not to be called", () => {
    const sent = body({ messages: [user("Hi"), calls("a"), result("a")] });
    expect(sent["tools"]).toEqual([{ name: "f_a", input_schema: { type: "object" } }]);
    expect(sent["tool_choice"]).toEqual({ type: "none" });
  });

  test("an answer to be continued ends in no blanks, and a conversation begins with the user", () => {
    const sent = messages({ role: "assistant", content: "Hello!" }, user("Hi"), { role: "assistant", content: "So: " });
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(sent[3]?.content).toEqual([{ type: "text", text: "So:" }]);
  });

  test("cache_control goes along from parts, messages and tools", () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const sent = body({
      messages: [{ ...user("Hi"), cache_control }, calls("a"), { ...result("a"), cache_control }],
      tools: [{ ...weather, cache_control }],
    });
    expect(sent.messages[0]?.content[0]).toMatchObject({ cache_control });
    expect(sent.messages[2]?.content[0]).toMatchObject({ type: "tool_result", cache_control });
    expect(sent["tools"]).toMatchObject([{ cache_control }]);
  });

  test("hold to the rules for any conversation", () => {
    const words = fc.constantFrom("", " ", "Hi", "北京 🌍", null);
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-z.:]{1,4}$/), { maxLength: 3 });
    const turn = fc.oneof(
      words.map((content) => [user(content)]),
      words.map((content) => [{ role: "assistant", content }]),
      words.map((content) => [{ role: "system", content }]),
      fc.tuple(ids, words, fc.infiniteStream(fc.nat())).map(([list, content, order]) => {
        if (list.length === 0) return [user("x")];
        const results = list.map((id) => ({ id, at: order.next().value as number })).sort((a, b) => a.at - b.at);
        return [{ ...calls(...list), content }, ...results.map(({ id }) => result(id, content))];
      }),
    );
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (turns) => {
        const list = turns.flat();
        const sent = messages(...list);
        sent.forEach(({ role, content }, i) => {
          expect(role).toBe(i % 2 === 0 ? "user" : "assistant");
          expect(content.length).toBeGreaterThan(0);
          for (const block of content) if (block["type"] === "text") expect(String(block["text"]).trim()).not.toBe("");
          const used = content.filter(({ type }) => type === "tool_use").map(({ id }) => id);
          const next = sent[i + 1]?.content ?? [];
          const answered = next.filter(({ type }) => type === "tool_result").map((block) => block["tool_use_id"]);
          if (role === "assistant") expect(answered).toEqual(used);
          expect(next.slice(0, used.length).every(({ type }) => type === "tool_result")).toBe(
            used.length === 0 || true,
          );
          if (used.length > 0)
            expect(next.slice(0, used.length).map(({ type }) => type)).toEqual(used.map(() => "tool_result"));
        });
        const count = (type: string) =>
          sent.flatMap(({ content }) => content).filter((block) => block["type"] === type).length;
        expect(count("tool_use")).toBe(
          list.flatMap((message) => ("tool_calls" in message ? message.tool_calls : [])).length,
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe("parts", () => {
  const base64 = (latin1: string) => Buffer.from(latin1, "latin1").toString("base64");
  const jpeg = base64("\xff\xd8\xff\xe0…");
  const pdf = base64("%PDF-1.7 …");
  const block = (part: unknown) => messages(user([part]))[0]?.content[0];
  const image = (url: string) => ({ type: "image_url", image_url: { url, detail: "high" } });
  const file = (data: string, filename = "a") => ({ type: "file", file: { file_data: data, filename } });

  test("an image is what its bytes are, not what it is called", () => {
    const source = { type: "base64", media_type: "image/jpeg", data: jpeg };
    expect(block(image(`data:image/png;base64,${jpeg}`))).toEqual({ type: "image", source });
    expect(block(file(`data:application/pdf;base64,${jpeg}`))).toEqual({ type: "image", source });
  });

  test("links go as links", () => {
    expect(block(image("https://a.example/b.png"))).toEqual({
      type: "image",
      source: { type: "url", url: "https://a.example/b.png" },
    });
    expect(block(file("https://a.example/b.pdf"))).toMatchObject({ type: "document", source: { type: "url" } });
  });

  test.each([`data:application/pdf;base64,${pdf}`, pdf])("PDF goes as a document (%#)", (data) => {
    const source = { type: "base64", media_type: "application/pdf", data: pdf };
    expect(block(file(data, "a.pdf"))).toEqual({ type: "document", source, title: "a.pdf" });
  });

  test.each(["text/csv", "text/plain", "application/json", "text/markdown;charset=utf-8"])(
    "%s goes as text",
    (type) => {
      const source = { type: "text", media_type: "text/plain", data: "a;ü" };
      const data = Buffer.from("a;ü").toString("base64");
      expect(block(file(`data:${type};base64,${data}`, "a.csv"))).toEqual({ type: "document", source, title: "a.csv" });
      expect(block(file(`data:${type},a%3B%C3%BC`))).toMatchObject({ source });
    },
  );

  test("a file of Anthropic's is referred to, with the beta that it takes", () => {
    const call = send({ messages: [user([{ type: "file", file: { file_id: "file_011" } }])] });
    expect(call.body.messages[0]?.content[0]).toEqual({
      type: "document",
      source: { type: "file", file_id: "file_011" },
    });
    expect(call.headers["anthropic-beta"]).toBe("files-api-2025-04-14");
  });

  test.each<[string, unknown]>([
    ["a file of OpenAI's", { type: "file", file: { file_id: "file-abc" } }],
    ["audio", { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }],
    ["a spreadsheet", file(`data:application/vnd.ms-excel;base64,${base64("\xd0\xcf\x11\xe0")}`)],
    ["a bitmap", image(`data:image/bmp;base64,${base64("BM…")}`)],
    ["a scheme that is none", image("ftp://a.example/b")],
    ["no bytes", image("data:image/png;base64,")],
    ["text without text", { type: "text" }],
  ])("%s is refused, never dropped", (_what, part) => {
    expect(refused({ messages: [user([{ type: "text", text: "see" }, part])] })).toMatch(/^messages\.0\.content\.1/);
  });
});

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

  test("are declared with a schema of an object, strict where the model holds to it", () => {
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

  test("of Anthropic's own kinds go through; allowed ones are chosen from", () => {
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
  ])("%s is refused where it makes no sense", (param, chat) => {
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

  test("is a structured output where the model has them, in the schema that they take", () => {
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
    ["a schema of itself", tree, "claude-opus-5"],
    ["a map of any keys", map, "claude-sonnet-4-5"],
  ])("is a tool that must be called for %s", (_what, given, model) => {
    const asked = { response_format: { type: "json_schema", json_schema: { name: "n", schema: given } } };
    const sent = body(asked, model);
    expect(sent["output_config"]).toBeUndefined();
    expect(sent["tools"]).toMatchObject([{ name: "spanway_json_answer", input_schema: given }]);
    expect(sent["tool_choice"]).toMatchObject({ type: "tool", name: "spanway_json_answer" });
    expect(body({ ...asked, tools: [weather] }, model)["tool_choice"]).toEqual({ type: "any" });
    expect(body({ ...asked, tools: [weather], tool_choice: "required" }, model)["tools"]).toHaveLength(1);
  });

  test("without a schema is asked for in words; text is nothing", () => {
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

  test("is a budget within the bound on tokens, and leaves sampling to the model", () => {
    const asked = { reasoning_effort: "medium", max_tokens: 10_000, temperature: 0.2 };
    expect(sent(asked, "claude-sonnet-4-5")).toEqual({
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
    ["there is no room for it", { max_tokens: 1_000 }, "claude-sonnet-4-5"],
    ["a tool must be called", { tools: [weather], tool_choice: "required" }, "claude-sonnet-4-5"],
    ["the model has none", {}, "claude-3-5-haiku-latest"],
    [
      "an answer under way began without it",
      { messages: [user("Hi"), calls("a"), result("a")], tools: [weather] },
      "claude-sonnet-4-5",
    ],
  ])("is left out and reported where %s", (_when, chat, model) => {
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

  test("stops for a tool that must be called, if the model lets it", () => {
    const chat = { reasoning_effort: "max", tools: [weather], tool_choice: "required" };
    expect(sent(chat, "claude-opus-5")).toMatchObject({
      thinking: { type: "disabled" },
      output_config: { effort: "high" },
      adjusted: ["reasoning_effort"],
    });
  });

  test("by Anthropic's own parameter is as it was ordered, with room for the answer", () => {
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
    const content = (asked: Partial<ChatRequest>) => body(asked).messages[1]?.content.map(({ type }) => type);
    expect(body(chat).messages[1]?.content.slice(0, 2)).toEqual([signed, redacted]);
    expect(body(chat)["thinking"]).toMatchObject({ type: "enabled" });
    expect(content({ ...chat, reasoning_effort: null })).toEqual(["tool_use"]);
  });
});

describe("parameters without a match", () => {
  test.each<[string, unknown]>([
    ["n", 3],
    ["logprobs", true],
    ["top_logprobs", 2],
    ["logit_bias", { "1": 100 }],
    ["modalities", ["text", "audio"]],
    ["audio", { voice: "alloy" }],
    ["functions", [{}]],
    ["web_search_options", {}],
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
  ])("%s %j is left out or lowered, and reported", (name, value) => {
    const call = send({ [name]: value });
    expect(call.adjusted).toEqual([name]);
    expect(call.body[name]).toBe(name === "temperature" ? 1 : undefined);
    expect(call.body["stop_sequences"]).toBeUndefined();
  });

  test("what asks for nothing goes without a word, and what is Anthropic's own goes through", () => {
    const nothing = {
      n: 1,
      logprobs: false,
      logit_bias: {},
      presence_penalty: 0,
      top_logprobs: null,
      modalities: ["text"],
    };
    const kept = { metadata: { a: "b" }, stream_options: { include_usage: true }, prompt_cache_key: "k" };
    const call = send({ ...nothing, ...kept });
    expect(call.adjusted).toBeUndefined();
    expect(call.body).toEqual(body({}));
    expect(body({ container: "c", top_k: 5 })).toMatchObject({ container: "c", top_k: 5 });
    expect(send({ anthropic_beta: ["a-1", "b-2"] }).headers["anthropic-beta"]).toBe("a-1,b-2");
    expect(refused({ anthropic_beta: ["a\r\nb"] })).toBe("anthropic_beta");
  });

  test("user names whom a call is for; both samplings at once are one", () => {
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
  ])("%s may generate %d tokens unless told otherwise", (model, max_tokens) => {
    expect(body({}, model)["max_tokens"]).toBe(max_tokens);
    expect(body({ max_tokens: 7 }, model)["max_tokens"]).toBe(7);
  });
});
