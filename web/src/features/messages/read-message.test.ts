import { describe, expect, test } from "vitest";
import { readMessage } from "./read-message.ts";

const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1").toString("base64");
const wav = Buffer.from("RIFF\x24\0\0\0WAVEfmt ", "latin1").toString("base64");
const image = { kind: "media", media: { kind: "inline", shown: "image" } };
const audio = { kind: "media", media: { kind: "inline", shown: "audio" } };
const text = (value: string) => ({ kind: "text", text: value });
const parts = (raw: unknown) => readMessage(raw, 0).parts;

describe("roles", () => {
  test.each([
    [{ role: "developer", content: "x" }, "system"],
    [{ role: "model", parts: [{ text: "x" }] }, "assistant"],
    [{ role: "function", name: "f", content: "x" }, "tool"],
    [{ role: "critic", content: "x" }, "other"],
    [{ lc: 1, id: ["langchain", "schema", "HumanMessage"], kwargs: { content: "x" } }, "user"],
    [{ type: "function_call", name: "f", arguments: "{}", call_id: "c" }, "assistant"],
    [{ type: "function_call_output", output: "x", call_id: "c" }, "tool"],
    ["just text", "user"],
    [{ role: 7, content: "x" }, "user"],
    [null, "user"],
  ])("%j", (raw, tone) => {
    expect(readMessage(raw, 0).tone).toBe(tone);
  });
});

describe("text", () => {
  test.each([
    ["a text", { role: "user", content: "hi" }],
    ["OpenAI's part", { role: "user", content: [{ type: "text", text: "hi" }] }],
    ["Responses'", { role: "user", content: [{ type: "input_text", text: "hi" }] }],
    ["an item of Responses", { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
    ["the Assistants API's", { role: "user", content: [{ type: "text", text: { value: "hi", annotations: [] } }] }],
    ["Bedrock's", { role: "user", content: [{ text: "hi" }] }],
    ["Gemini's", { role: "user", parts: [{ text: "hi" }] }],
    ["GenAI conventions'", { role: "user", parts: [{ type: "text", content: "hi" }] }],
    ["a single block", { role: "user", content: { type: "text", text: "hi" } }],
    ["texts", { role: "user", content: ["hi"] }],
    ["LangChain's", { lc: 1, id: ["AIMessage"], kwargs: { content: "hi" } }],
  ])("%s", (_name, raw) => {
    expect(parts(raw)).toEqual([text("hi")]);
  });

  test.each([
    [{ role: "assistant", content: null }],
    [{ role: "assistant" }],
    [{ role: "user", content: "" }],
    [{ role: "user", content: [] }],
  ])("no content: %j", (raw) => {
    expect(parts(raw)).toEqual([]);
  });

  test("cited pages of an answer", () => {
    const raw = {
      role: "assistant",
      content: "Yes.",
      annotations: [{ type: "url_citation", url_citation: { url: "https://a.example/", title: "A" } }],
      citations: ["https://b.example/", "https://a.example/"],
    };
    const sources = [
      { title: "A", url: "https://a.example/" },
      { title: "https://b.example/", url: "https://b.example/" },
    ];
    expect(parts(raw)).toEqual([{ ...text("Yes."), sources }]);
  });
});

describe("reasoning", () => {
  test.each([
    ["beside the content", { role: "assistant", content: "hi", reasoning_content: "hmm" }],
    [
      "OpenRouter's",
      {
        role: "assistant",
        content: "hi",
        reasoning: "hmm",
        reasoning_details: [{ type: "reasoning.text", text: "hmm" }],
      },
    ],
    [
      "details alone",
      { role: "assistant", content: "hi", reasoning_details: [{ type: "reasoning.summary", summary: "hmm" }] },
    ],
    [
      "Anthropic's",
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hmm", signature: "s" },
          { type: "text", text: "hi" },
        ],
      },
    ],
    [
      "Bedrock's",
      { role: "assistant", content: [{ reasoningContent: { reasoningText: { text: "hmm" } } }, { text: "hi" }] },
    ],
    ["Gemini's", { role: "model", parts: [{ text: "hmm", thought: true }, { text: "hi" }] }],
  ])("%s", (_name, raw) => {
    expect(parts(raw)).toEqual([{ kind: "reasoning", text: "hmm" }, text("hi")]);
  });

  test("a reasoning item with a summary", () => {
    const raw = {
      type: "reasoning",
      id: "r",
      summary: [
        { type: "summary_text", text: "a" },
        { type: "summary_text", text: "b" },
      ],
    };
    expect(readMessage(raw, 0)).toMatchObject({ tone: "assistant", parts: [{ kind: "reasoning", text: "a\nb" }] });
  });

  test.each([
    [{ role: "assistant", content: [{ type: "redacted_thinking", data: "xyz" }] }],
    [{ role: "assistant", reasoning_details: [{ type: "reasoning.encrypted", data: "xyz" }] }],
    [{ type: "reasoning", summary: [], encrypted_content: "xyz" }],
  ])("hidden reasoning is indicated: %j", (raw) => {
    expect(parts(raw)).toEqual([{ kind: "reasoning", text: "" }]);
  });
});

describe("calls and results", () => {
  const call = { kind: "tool-call", id: "c1", name: "get_weather", arguments: { city: "Paris" } };
  const given = { city: "Paris" };
  test.each([
    [
      "OpenAI's",
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } }],
      },
    ],
    [
      "Anthropic's",
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "get_weather", input: given }] },
    ],
    [
      "Anthropic's of a server",
      { role: "assistant", content: [{ type: "server_tool_use", id: "c1", name: "get_weather", input: given }] },
    ],
    [
      "Bedrock's",
      { role: "assistant", content: [{ toolUse: { toolUseId: "c1", name: "get_weather", input: given } }] },
    ],
    ["Gemini's", { role: "model", parts: [{ functionCall: { id: "c1", name: "get_weather", args: given } }] }],
    [
      "Responses'",
      { type: "function_call", id: "fc", call_id: "c1", name: "get_weather", arguments: '{"city":"Paris"}' },
    ],
    [
      "the AI SDK's",
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "get_weather", input: given }] },
    ],
    [
      "GenAI conventions'",
      { role: "assistant", parts: [{ type: "tool_call", id: "c1", name: "get_weather", arguments: given }] },
    ],
    [
      "LangChain's",
      {
        lc: 1,
        id: ["AIMessage"],
        kwargs: { content: "", tool_calls: [{ id: "c1", name: "get_weather", args: given }] },
      },
    ],
    [
      "a block that stands beside too",
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c1", name: "get_weather", input: given }],
        tool_calls: [{ id: "c1", name: "get_weather", args: given }],
      },
    ],
  ])("a call: %s", (_name, raw) => {
    expect(parts(raw)).toEqual([call]);
  });

  test("arguments that are not JSON stay text, the arguments of a built-in tool are its other members", () => {
    const broken = { role: "assistant", function_call: { name: "f", arguments: '{"city": "Par' } };
    expect(parts(broken)).toMatchObject([{ name: "f", arguments: '{"city": "Par' }]);
    const search = { type: "web_search_call", id: "ws", status: "completed", action: { query: "x" } };
    expect(parts(search)).toMatchObject([{ name: "web_search_call", arguments: { action: { query: "x" } } }]);
  });

  const result = { kind: "tool-result", id: "c1", parts: [text("21 °C")] };
  test.each([
    ["OpenAI's", { role: "tool", tool_call_id: "c1", content: "21 °C" }],
    ["parts", { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "21 °C" }] }],
    [
      "Anthropic's",
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "21 °C" }] }],
      },
    ],
    ["Bedrock's", { role: "user", content: [{ toolResult: { toolUseId: "c1", content: [{ text: "21 °C" }] } }] }],
    ["Responses'", { type: "function_call_output", call_id: "c1", output: "21 °C" }],
    [
      "the AI SDK's",
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", output: { type: "text", value: "21 °C" } }] },
    ],
  ])("a result: %s", (_name, raw) => {
    expect(parts(raw)).toMatchObject([result]);
  });

  test("a JSON result, as text and as a value", () => {
    const value = { kind: "value", value: { temperature: 21 } };
    expect(parts({ role: "tool", content: '{"temperature":21}' })).toMatchObject([{ parts: [value] }]);
    expect(
      parts({ role: "user", parts: [{ functionResponse: { name: "f", response: { temperature: 21 } } }] }),
    ).toMatchObject([{ name: "f", parts: [value] }]);
  });

  test("errors and images in results", () => {
    const raw = {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c1",
          is_error: true,
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
        },
      ],
    };
    expect(parts(raw)).toMatchObject([{ isError: true, parts: [image] }]);
  });
});

describe("images, recordings, files", () => {
  const uri = `data:image/png;base64,${png}`;
  test.each([
    ["OpenAI's", { type: "image_url", image_url: { url: uri } }],
    ["a bare address", { type: "image_url", image_url: uri }],
    ["Responses'", { type: "input_image", image_url: uri }],
    ["Anthropic's", { type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
    ["the AI SDK's", { type: "image", image: png, mediaType: "image/png" }],
    ["Bedrock's", { image: { format: "png", source: { bytes: png } } }],
    ["Gemini's", { inlineData: { mimeType: "image/png", data: png } }],
    ["GenAI conventions'", { type: "blob", modality: "image", mime_type: "image/png", content: png }],
  ])("an image: %s", (_name, block) => {
    expect(parts({ role: "user", content: [block] })).toMatchObject([image]);
  });

  test.each([
    ["OpenAI's", { type: "input_audio", input_audio: { data: wav, format: "wav" } }],
    ["Gemini's", { inline_data: { mime_type: "audio/wav", data: wav } }],
  ])("a recording: %s", (_name, block) => {
    expect(parts({ role: "user", content: [block] })).toMatchObject([audio]);
  });

  test("an audio answer with its transcript", () => {
    const raw = { role: "assistant", content: null, audio: { id: "a", data: wav, transcript: "hello" } };
    expect(parts(raw)).toMatchObject([{ ...audio, caption: "hello" }]);
    expect(parts({ role: "assistant", audio: { id: "a", transcript: "hello" } })).toEqual([text("hello")]);
  });

  test.each([
    [{ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjc=" } }, "a.pdf"],
    [{ type: "input_file", file_id: "file-1" }, "file-1"],
    [
      {
        type: "document",
        title: "Terms",
        source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjc=" },
      },
      "Terms",
    ],
    [{ document: { name: "b.csv", format: "csv", source: { bytes: "YQ==" } } }, "b.csv"],
    [{ type: "image", source: { type: "file", file_id: "file-2" } }, "file-2"],
    [{ type: "input_image", file_id: "file-3" }, "file-3"],
  ])("a file: %j", (block, name) => {
    expect(parts({ role: "user", content: [block] })).toMatchObject([{ kind: "file", name }]);
  });

  test("images beside the content of an answer", () => {
    const raw = { role: "assistant", content: "here", images: [{ type: "image_url", image_url: { url: uri } }] };
    expect(parts(raw)).toMatchObject([text("here"), image]);
  });
});

test("an unknown shape is shown unchanged", () => {
  const odd = { type: "hologram", data: [1] };
  expect(parts({ role: "user", content: [odd, 5, null, [true]] })).toEqual([
    { kind: "value", label: "hologram", value: odd },
    { kind: "value", label: "content", value: 5 },
    { kind: "value", label: "content", value: [true] },
  ]);
});

test.each([
  [{ role: "assistant", tool_calls: "no list", content: { a: 1 } }],
  [{ role: "tool", tool_call_id: 5, content: { content: { content: 1 } } }],
  [
    {
      role: "user",
      content: [{ type: "image_url" }, { type: "input_audio", input_audio: 5 }, { type: "file", file: null }],
    },
  ],
  [{ role: "assistant", reasoning_details: {}, audio: { data: 1 }, images: [1], function_call: {} }],
  [{ role: "assistant", content: [{ type: "tool_use" }, { type: "tool_result", content: [[["x"]]] }] }],
  [[1, 2]],
  [true],
])("no shape makes parsing fail: %j", (raw) => {
  expect(() => parts(raw)).not.toThrow();
});
