import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { body, type Body, calls, messages, refused, result, send, target, user, weather } from "./request.fixture.ts";
import { anthropicTranslator } from "./translator.ts";

test("is sent to the Messages API with its version and key, without OpenAI's names", () => {
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
  test("system and developer text at the beginning is one system prompt, in order", () => {
    const sent = body({
      messages: [
        { role: "system", content: "A" },
        { role: "developer", content: [{ type: "text", text: "B", cache_control: { type: "ephemeral" } }] },
        user("Hi"),
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

  test("results in any order are one user turn before its text, in the order of the calls", () => {
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
    ["one before the next response", "messages.1.tool_calls", [user("Hi"), calls("a"), user("x"), calls("b")]],
    ["a result without a call", "messages.1.tool_call_id", [user("Hi"), result("a")]],
    ["a second result", "messages.3.tool_call_id", [user("Hi"), calls("a"), result("a"), result("a")]],
    ["calls with the same id", "messages.1.tool_calls", [user("Hi"), calls("a", "a")]],
    [
      "a call with too deeply nested arguments",
      "messages.0.tool_calls.0.function.arguments",
      [
        {
          role: "assistant",
          tool_calls: [
            { id: "a", function: { name: "f", arguments: `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}` } },
          ],
        },
      ],
    ],
    ["an unknown role", "messages.0.role", [{ role: "function", content: "x" }]],
    ["an unknown part", "messages.0.content.0.type", [user([{ type: "video_url" }])]],
    ["no messages", "messages", []],
  ])("%s is refused by name", (_what, param, list) => {
    expect(refused({ messages: list })).toBe(param);
  });

  test("ids of other providers become valid ids, equal for call and result", () => {
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

  test("tools of the history are declared if the request has none, and must not be called", () => {
    const sent = body({ messages: [user("Hi"), calls("a"), result("a")] });
    expect(sent["tools"]).toEqual([{ name: "f_a", input_schema: { type: "object" } }]);
    expect(sent["tool_choice"]).toEqual({ type: "none" });
  });

  test("a response to be continued does not end in whitespace, and a conversation begins with the user", () => {
    const sent = messages({ role: "assistant", content: "Hello!" }, user("Hi"), { role: "assistant", content: "So: " });
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(sent[3]?.content).toEqual([{ type: "text", text: "So:" }]);
  });

  test("names of participants are omitted and reported; blank arguments are empty", () => {
    const call = { id: "a", type: "function", function: { name: "f", arguments: " " } };
    const sent = send({
      messages: [{ ...user("Hi"), name: "Ann" }, { role: "assistant", tool_calls: [call] }, result("a")],
    });
    expect(sent.adjusted).toEqual(["messages.name"]);
    expect(sent.body.messages[1]?.content).toEqual([{ type: "tool_use", id: "a", name: "f", input: {} }]);
  });

  test("cache_control is kept from parts, messages and tools", () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const sent = body({
      messages: [{ ...user("Hi"), cache_control }, calls("a"), { ...result("a"), cache_control }],
      tools: [{ ...weather, cache_control }],
    });
    expect(sent.messages[0]?.content[0]).toMatchObject({ cache_control });
    expect(sent.messages[2]?.content[0]).toMatchObject({ type: "tool_result", cache_control });
    expect(sent["tools"]).toMatchObject([{ cache_control }]);
  });

  test("follow the rules for any conversation", () => {
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
        const of = (content: Body["messages"][number]["content"], type: string, member: string) =>
          content.filter((block) => block["type"] === type).map((block) => block[member]);
        sent.forEach(({ role, content }, i) => {
          expect(role).toBe(i % 2 === 0 ? "user" : "assistant");
          expect(content.length).toBeGreaterThan(0);
          expect(of(content, "text", "text").filter((text) => String(text).trim() === "")).toEqual([]);
          const used = of(content, "tool_use", "id");
          const next = sent[i + 1]?.content ?? [];
          expect(of(next.slice(0, used.length), "tool_result", "tool_use_id")).toEqual(used);
          expect(of(content, "tool_result", "tool_use_id")).toEqual(of(sent[i - 1]?.content ?? [], "tool_use", "id"));
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

  test("the type of an image is detected from its bytes", () => {
    const source = { type: "base64", media_type: "image/jpeg", data: jpeg };
    expect(block(image(`data:image/png;base64,${jpeg}`))).toEqual({ type: "image", source });
    expect(block(file(`data:application/pdf;base64,${jpeg}`))).toEqual({ type: "image", source });
  });

  test("large images are sent unchanged", () => {
    const data = jpeg.slice(0, 4) + "A".repeat(8_000_000);
    expect(block(image(`data:image/jpeg;base64,${data}`))).toMatchObject({ source: { data } });
  });

  test("links are sent as links", () => {
    expect(block(image("https://a.example/b.png"))).toEqual({
      type: "image",
      source: { type: "url", url: "https://a.example/b.png" },
    });
    expect(block(file("https://a.example/b.pdf"))).toMatchObject({ type: "document", source: { type: "url" } });
  });

  test.each([`data:application/pdf;base64,${pdf}`, pdf])("PDF is sent as a document (%#)", (data) => {
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

  test("a file of Anthropic is referenced, with the beta that it requires", () => {
    const call = send({ messages: [user([{ type: "file", file: { file_id: "file_011" } }])] });
    expect(call.body.messages[0]?.content[0]).toEqual({
      type: "document",
      source: { type: "file", file_id: "file_011" },
    });
    expect(call.headers["anthropic-beta"]).toBe("files-api-2025-04-14");
  });

  test.each<[string, unknown]>([
    ["a file of OpenAI", { type: "file", file: { file_id: "file-abc" } }],
    ["audio", { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }],
    ["a spreadsheet", file(`data:application/vnd.ms-excel;base64,${base64("\xd0\xcf\x11\xe0")}`)],
    ["a bitmap", image(`data:image/bmp;base64,${base64("BM…")}`)],
    ["an unknown scheme", image("ftp://a.example/b")],
    ["no bytes", image("data:image/png;base64,")],
    ["an endless head", image(`data:${";".repeat(3_000_000)}`)],
    ["text without text", { type: "text" }],
  ])("%s is refused, never dropped", (_what, part) => {
    expect(refused({ messages: [user([{ type: "text", text: "see" }, part])] })).toMatch(/^messages\.0\.content\.1/);
  });
});
