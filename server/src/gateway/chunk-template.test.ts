import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createChunkTemplate } from "./chunk-template.ts";

const chunk = (content: unknown, more: object = {}): Record<string, unknown> => ({
  id: "chatcmpl-1",
  choices: [{ index: 0, delta: { content, ...more }, finish_reason: null }],
});

describe("a chunk that is like the one before is read without parsing,", () => {
  test("whatever its text, as parsing would", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 2 }), fc.nat({ max: 1 }), (texts, indent) => {
        const template = createChunkTemplate();
        for (const text of texts) {
          const value = chunk(text);
          const data = JSON.stringify(value, undefined, indent);
          expect(template.read(data) ?? value).toEqual(value);
          template.learn(data, value);
        }
      }),
    );
  });

  test("with either spacing", () => {
    for (const write of [JSON.stringify, (value: unknown) => JSON.stringify(value).replaceAll(":", ": ")]) {
      const template = createChunkTemplate();
      template.learn(write(chunk("one")), chunk("one"));
      expect(template.read(write(chunk("two")))).toEqual(chunk("two"));
      expect(template.read(write(chunk("")))).toEqual(chunk(""));
    }
  });
});

describe("is not read, as it is not alike:", () => {
  const template = createChunkTemplate();
  template.learn(JSON.stringify(chunk("one")), chunk("one"));
  const plain = JSON.stringify(chunk("TEXT"));
  test.each([
    ["another id", plain.replace("chatcmpl-1", "chatcmpl-2")],
    ["a finish", plain.replace("null", '"stop"')],
    ["another member beside the content", plain.replace('"TEXT"', '"x","role":"assistant"')],
    ["an escape", plain.replace("TEXT", String.raw`\u00e4`)],
    ["a character that JSON does not allow", plain.replace("TEXT", "a\nb")],
    ["a text that closes its quote", plain.replace("TEXT", '"')],
    ["less than what stands around the text", plain.slice(0, 20)],
  ])("%s", (_name, data) => {
    expect(template.read(data)).toBeUndefined();
  });
});

test("nothing is learnt of a chunk whose content stands in doubt", () => {
  const twice = createChunkTemplate();
  twice.learn('{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}', {
    choices: [{ delta: { content: "a" }, message: { content: "a" } }],
  });
  expect(twice.read('{"choices":[{"delta":{"content":"b"},"message":{"content":"a"}}]}')).toBeUndefined();

  const elsewhere = createChunkTemplate();
  const data = String.raw`{"content":"a","choices":[{"delta":{"\u0063ontent":"a"}}]}`;
  elsewhere.learn(data, JSON.parse(data) as Record<string, unknown>);
  expect(elsewhere.read(data)).toBeUndefined();
});
