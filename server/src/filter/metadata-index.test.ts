import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../lib/json.ts";
import { filterLimits } from "./limits.ts";
import { indexMetadata } from "./metadata-index.ts";

function indexJson(json: string): Record<string, string> {
  const parsed = parseJson(Buffer.from(json));
  if (!parsed.ok) throw new Error(parsed.message);
  return { ...indexMetadata(parsed.value as Record<string, unknown>) };
}

describe("indexMetadata", () => {
  test("keeps keys as sent and distinguishes a nested path from a dotted key", () => {
    expect(indexJson('{"a":{"b":1},"a.b":2,"a__b":3}')).toEqual({
      a: '{"b":1}',
      "a\u001Fb": "1",
      "a.b": "2",
      a__b: "3",
    });
  });

  test("writes scalars as their JSON text, keeps every digit, and leaves null out", () => {
    const index = indexJson(
      '{"n":1.5,"big":12345678901234567890,"yes":true,"no":false,"none":null,"text":"","e":1e30}',
    );
    expect(index).toEqual({ n: "1.5", big: "12345678901234567890", yes: "true", no: "false", text: "", e: "1e+30" });
  });

  test("writes arrays as JSON text", () => {
    expect(indexJson('{"tags":["vip","b\\"c",1,null]}')).toEqual({ tags: '["vip","b\\"c",1,null]' });
  });

  test("leaves reserved keys out, but not nested ones", () => {
    expect(Object.keys(indexJson('{"_secret":"x","a":{"_b":1}}'))).toEqual(["a", "a\u001F_b"]);
  });

  test("treats hostile keys as ordinary keys", () => {
    const index = indexMetadata(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"x":1}}}'));
    expect(Object.keys(index).some((key) => key.includes("constructor"))).toBe(true);
    expect((Object.prototype as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("is bounded, shallow entries first", () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i]));
    const index = indexMetadata({ nested: wide, last: "kept" });
    expect(Object.keys(index)).toHaveLength(filterLimits.metadataKeys);
    expect(index["last"]).toBe("kept");

    const long = "x".repeat(filterLimits.metadataJsonChars);
    expect(Object.keys(indexMetadata({ list: [long], text: long }))).toEqual(["text"]);

    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 10_000; i += 1) deep = { a: deep };
    expect(Object.keys(indexMetadata({ top: 1, ["k".repeat(filterLimits.metadataKeyChars + 1)]: 1 }))).toEqual(["top"]);
    expect(Object.keys(indexMetadata(deep)).length).toBeLessThanOrEqual(filterLimits.metadataIndexDepth);
  });

  test("writes containers as JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        fc.pre(typeof value === "object" && value !== null);
        expect(indexMetadata({ value })["value"]).toBe(JSON.stringify(value));
      }),
    );
  });
});
