import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitsDecoder, forDecoder } from "./schemas.ts";

const closed = (properties: object) => ({ type: "object", properties });

describe("schemas for decoding", () => {
  test.each<[string, Record<string, unknown>, boolean]>([
    ["named keys", closed({ a: { type: "string" } }), true],
    ["no keys on purpose", { type: "object", additionalProperties: false }, true],
    ["any keys", { type: "object" }, false],
    ["keys beside the named", { ...closed({ a: {} }), additionalProperties: true }, false],
    ["keys of a pattern", { ...closed({}), patternProperties: { "^x": {} } }, false],
    ["any keys deep within", closed({ a: { type: "array", items: { anyOf: [{ type: "object" }] } } }), false],
    ["a definition", { ...closed({ a: { $ref: "#/$defs/x" } }), $defs: { x: closed({}) } }, true],
    [
      "a definition used twice",
      { ...closed({ a: { $ref: "#/$defs/x" }, b: { $ref: "#/$defs/x" } }), $defs: { x: {} } },
      true,
    ],
    ["a definition that is not there", closed({ a: { $ref: "#/$defs/x" } }), false],
    ["a definition elsewhere", closed({ a: { $ref: "https://a.example/x.json" } }), false],
    ["itself", closed({ next: { $ref: "#" } }), false],
    [
      "itself indirectly",
      { ...closed({ a: { $ref: "#/$defs/x" } }), $defs: { x: { items: { $ref: "#/$defs/x" } } } },
      false,
    ],
    ["anything", closed({ a: true }), false],
  ])("with %s fit or not", (_what, schema, isFit) => {
    expect(fitsDecoder(schema)).toBe(isFit);
  });

  test("are checked quickly, however often their definitions refer to each other", () => {
    const level = (n: number) => closed({ a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } });
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`d${n}`, n === 59 ? {} : level(n)]));
    expect(fitsDecoder({ ...level(-1), $defs })).toBe(true);
  });

  test("keep supported keywords, and describe the others in text", () => {
    const schema = {
      ...closed({
        when: { type: "string", format: "date", description: "A day" },
        code: { type: "string", pattern: "^[A-Z]+$", description: "A code" },
        list: { type: "array", items: { type: "integer", maximum: 9 }, minItems: 1, maxItems: 3 },
      }),
      required: ["when"],
      additionalProperties: false,
    };
    expect(forDecoder(schema)).toEqual({
      type: "object",
      properties: {
        when: { type: "string", format: "date", description: "A day" },
        code: { type: "string", description: 'A code\n{pattern: "^[A-Z]+$"}' },
        list: {
          type: "array",
          items: { type: "integer", description: "{maximum: 9}" },
          minItems: 1,
          description: "{maxItems: 3}",
        },
      },
      required: ["when"],
      additionalProperties: false,
    });
  });

  test("are idempotent, and never throw", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("type", "properties", "items", "anyOf", "$ref", "x"), fc.jsonValue()),
        (schema) => {
          const once = forDecoder(schema);
          expect(forDecoder(once)).toEqual(once);
          expect(fitsDecoder(schema)).toBeTypeOf("boolean");
        },
      ),
    );
  });
});
