import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import { parseJson } from "./json.ts";

const canonical = (text: string): string => {
  const parsed = parseJson(Buffer.from(text));
  if (!parsed.ok) throw new Error(parsed.message);
  return canonicalJson(parsed.value);
};

/** Equivalent JSON text: members in another order, escapes for characters, whitespace between tokens. */
function rewritten(value: unknown): string {
  if (typeof value === "string") {
    const escaped = Array.from({ length: value.length }, (_, index) => value.charCodeAt(index).toString(16));
    return `"${escaped.map((code) => `\\u${code.padStart(4, "0")}`).join("")}"`;
  }
  if (Array.isArray(value)) return `[ ${value.map(rewritten).join(" ,\n")} ]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).reverse();
  return `{\t${members.map(([name, member]) => `${rewritten(name)} : ${rewritten(member)}`).join(" , ")}\n}`;
}

test("equivalent texts have the same canonical form, which is its own canonical form", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text);
      const form = canonical(text);
      expect(canonical(rewritten(value))).toBe(form);
      expect(canonical(form)).toBe(form);
    }),
  );
});

test("texts with different values have different forms", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const isSame = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
      expect(canonicalJson(a) === canonicalJson(b)).toBe(isSame);
    }),
  );
});

/** Objects as lists of their members, in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ["list", ...(value as unknown[]).map(sorted)];
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return ["object", ...members.map(([name, member]) => [name, sorted(member)])];
}

test.each([
  ['{"a":1,"a":2}', '{"a":2}'],
  ['{"b":[{"d":1,"c":2}],"a":null}', '{"a":null,"b":[{"c":2,"d":1}]}'],
  ['{"10":1,"9":2,"__proto__":3}', '{"9":2,"10":1,"__proto__":3}'],
  ["[12345678901234567890, 1.50, 1e2]", "[12345678901234567890,1.5,100]"],
])("%s is %s", (text, form) => {
  expect(canonical(text)).toBe(form);
});
