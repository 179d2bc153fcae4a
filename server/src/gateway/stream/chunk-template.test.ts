import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createChunkTemplate, type ChunkTemplate } from "./chunk-template.ts";

const chunk = (content: unknown, more: object = {}): Record<string, unknown> => ({
  id: "chatcmpl-1",
  choices: [{ index: 0, delta: { content, ...more }, finish_reason: null }],
});

const event = (data: string): Buffer => Buffer.from(`data: ${data}\n\n`);

function learn(template: ChunkTemplate, data: string): void {
  template.learn(event(data), data, JSON.parse(data) as Record<string, unknown>);
}

function read(template: ChunkTemplate, data: string): string | undefined {
  const bytes = event(data);
  if (!template.finds(bytes, 0)) return undefined;
  const text = bytes.toString("utf8", template.from, template.to);
  expect([template.chars, template.end()]).toEqual([text.length, bytes.length]);
  return text;
}

describe("an event with the same shape as the one before is read without parsing,", () => {
  test("with the same result as parsing, for any text", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 2 }), fc.nat({ max: 1 }), (texts, indent) => {
        const template = createChunkTemplate();
        for (const text of texts) {
          const data = JSON.stringify(chunk(text), undefined, indent).replaceAll("\n", " ");
          expect(read(template, data) ?? text).toBe(text);
          learn(template, data);
        }
      }),
    );
  });

  test("with either spacing", () => {
    for (const write of [JSON.stringify, (value: unknown) => JSON.stringify(value).replaceAll(":", ": ")]) {
      const template = createChunkTemplate();
      learn(template, write(chunk("one")));
      expect(read(template, write(chunk("two, drei, čtyři, 五, 🦊")))).toBe("two, drei, čtyři, 五, 🦊");
    }
  });

  test("several in one piece, up to an incomplete one", () => {
    const template = createChunkTemplate();
    learn(template, JSON.stringify(chunk("one")));
    const events = ["two", "three", "four"].map((text) => event(JSON.stringify(chunk(text))));
    const bytes = Buffer.concat(events);
    const ends = events.map((_, index) => Buffer.concat(events.slice(0, index + 1)).length);
    for (let length = 0; length <= bytes.length; length += 1) {
      const found: number[] = [];
      for (let at = 0; template.finds(bytes.subarray(0, length), at); at = template.end()) found.push(template.end());
      expect(found).toEqual(ends.filter((end) => end <= length));
    }
  });
});

describe("an event of another shape is not read:", () => {
  const template = createChunkTemplate();
  learn(template, JSON.stringify(chunk("one")));
  const plain = JSON.stringify(chunk("TEXT"));
  test.each([
    ["another id", plain.replace("chatcmpl-1", "chatcmpl-2")],
    ["a finish", plain.replace("null", '"stop"')],
    ["another member beside the content", plain.replace('"TEXT"', '"x","role":"assistant"')],
    ["an escape", plain.replace("TEXT", String.raw`\u00e4`)],
    ["no text", plain.replace("TEXT", "")],
    ["a text that ends early", plain.slice(0, -3)],
    ["nothing", ""],
  ])("%s", (_what, data) => {
    expect(read(template, plain)).toBe("TEXT");
    expect(read(template, data)).toBeUndefined();
  });

  test("bytes that are not UTF-8, and another line ending", () => {
    for (const latin1 of [plain.replace("TEXT", "\xe4"), plain.replace("TEXT", "\xed\xa0\x80")]) {
      expect(template.finds(Buffer.from(`data: ${latin1}\n\n`, "latin1"), 0)).toBe(false);
    }
    expect(template.finds(Buffer.from(`data: ${plain}\r\n\r\n`), 0)).toBe(false);
  });
});

describe("no template is learnt", () => {
  test.each([
    ["from a chunk with more than text", chunk("one", { reasoning_content: "because" })],
    ["from calls", chunk("one", { tool_calls: [{ index: 0, function: { arguments: "{}" } }] })],
    ["from usage", { ...chunk("one"), usage: { prompt_tokens: 1 } }],
    ["from an error", { ...chunk("one"), error: { message: "no" } }],
    ["from the last chunk", { choices: [{ index: 0, delta: { content: "one" }, finish_reason: "stop" }] }],
    ["from several choices", { choices: [0, 1].map((index) => ({ index, delta: { content: "one" } })) }],
  ])("%s", (_what, value) => {
    const template = createChunkTemplate();
    learn(template, JSON.stringify(value));
    expect(read(template, JSON.stringify(value))).toBeUndefined();
  });

  test("if the position of the content is ambiguous", () => {
    const twice = createChunkTemplate();
    learn(twice, '{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}');
    expect(read(twice, '{"choices":[{"delta":{"content":"b"},"message":{"content":"a"}}]}')).toBeUndefined();

    const template = createChunkTemplate();
    const data = String.raw`{"content":"a","choices":[{"delta":{"\u0063ontent":"a"}}]}`;
    learn(template, data);
    expect(read(template, data)).toBeUndefined();
  });
});
