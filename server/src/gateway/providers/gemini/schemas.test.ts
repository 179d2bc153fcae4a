import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forGemini } from "./schemas.ts";

const text = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("references", () => {
  test("are expanded, however nested, with the keywords beside them", () => {
    const $defs = { inner: { ...text, description: "in" }, outer: object({ deep: { $ref: "#/$defs/inner" } }) };
    const schema = object(
      {
        a: { $ref: "#/$defs/outer" },
        b: { $ref: "#/$defs/inner", description: "own" },
        c: { $ref: "#/properties/d" },
        d: text,
      },
      { $defs },
    );
    expect(forGemini(schema)).toEqual(
      object({ a: object({ deep: $defs.inner }), b: { ...text, description: "own" }, c: text, d: text }),
    );
  });

  test("that are recursive end in any object", () => {
    const node = object({ next: { $ref: "#/$defs/node", description: "the next" } });
    expect(forGemini(object({ head: { $ref: "#/$defs/node" } }, { $defs: { node } }))).toEqual(
      object({ head: object({ next: { type: "object", description: "the next" } }) }),
    );
    expect(forGemini(object({ self: { $ref: "#" } }))).toEqual(object({ self: object({ self: { type: "object" } }) }));
    expect(forGemini({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } })).toEqual({
      type: "object",
    });
  });

  test("that do not resolve, or grow without bound, become any object", () => {
    expect(forGemini(object({ a: { $ref: "https://x.test/s" }, b: { $ref: "#/nowhere" } }))).toEqual(
      object({ a: { type: "object" }, b: { type: "object" } }),
    );
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `d${i}`,
        object({ l: { $ref: `#/$defs/d${i + 1}` }, r: { $ref: `#/$defs/d${i + 1}` } }),
      ]),
    );
    expect(JSON.stringify(forGemini({ $ref: "#/$defs/d0", $defs: doubling })).length).toBeLessThan(1_000_000);
  });
});

test.each<[string, object, object]>([
  ["anyOf with null", { anyOf: [text, { type: "null" }] }, { anyOf: [text, { type: "null" }] }],
  ["a list of types", { type: ["string", "null"] }, { type: ["string", "null"] }],
  ["nullable", { ...text, nullable: true }, { type: ["string", "null"] }],
  ["oneOf", { oneOf: [text] }, { anyOf: [text] }],
  ["const", { const: "a" }, { ...text, enum: ["a"] }],
  ["const null", { const: null }, { type: "null" }],
  ["enum with null", { enum: ["a", null] }, { type: ["string", "null"], enum: ["a"] }],
  ["enum of numbers", { enum: [1, 2] }, { type: "number", enum: [1, 2] }],
  ["missing items", { type: "array" }, { type: "array", items: {} }],
  ["items of a tuple", { type: "array", items: [text] }, { type: "array", prefixItems: [text] }],
  [
    "exclusiveMinimum",
    { type: "integer", exclusiveMinimum: 0 },
    { type: "integer", description: "{exclusiveMinimum: 0}" },
  ],
  ["pattern", { ...text, description: "d", pattern: "^a" }, { ...text, description: 'd\n{pattern: "^a"}' }],
  ["format", { ...text, format: "date-time" }, { ...text, format: "date-time" }],
  ["another format", { ...text, format: "uuid" }, { ...text, description: '{format: "uuid"}' }],
  [
    "additionalProperties",
    { type: "object", additionalProperties: text },
    { type: "object", additionalProperties: text },
  ],
  [
    "closed",
    object({ a: text }, { additionalProperties: false }),
    object({ a: text }, { additionalProperties: false }),
  ],
  [
    "required without a property",
    object({ a: text }, { required: ["a", "b"] }),
    object({ a: text }, { required: ["a"] }),
  ],
  [
    "allOf",
    { allOf: [object({ a: text }, { required: ["a"] }), object({ b: text })] },
    object({ a: text, b: text }, { required: ["a"] }),
  ],
  ["a property of the name of a keyword", object({ $ref: text, const: text }), object({ $ref: text, const: text })],
])("%s", (_what, schema, written) => {
  expect(forGemini(schema as Record<string, unknown>)).toEqual(written);
});

test("any input terminates, and the result has no reference", () => {
  const names = fc.constantFrom(
    "$ref",
    "$defs",
    "properties",
    "items",
    "anyOf",
    "allOf",
    "type",
    "enum",
    "const",
    "required",
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.dictionary(
      names,
      fc.oneof({ maxDepth: 5 }, fc.constantFrom("#", "#/$defs/a", "string", null), fc.jsonValue(), tie("tree")),
    ),
  }));
  fc.assert(
    fc.property(tree, (schema) => {
      expect(JSON.stringify(forGemini(schema))).not.toContain('"$ref":"#');
    }),
  );
});
