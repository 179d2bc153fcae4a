import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cleanDeep,
  exceedsShape,
  isObject,
  isRawNumber,
  parseJson,
  parseJsonText,
  parseObjectText,
  parseStrictJson,
  countJsonNodes,
  holdsDigits,
  nullNonFinite,
} from "./json.ts";

const parse = (text: string | Buffer) => {
  const result = parseJson(Buffer.from(text));
  if (!result.ok) throw new Error(result.message);
  return result.value;
};

test("any JSON value survives parse and stringify", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test("integers of any length keep their digits", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (digits) => {
      expect(JSON.stringify(parse(`{"a":[${digits}, ${digits}],"b": ${digits}}`))).toBe(
        `{"a":[${digits},${digits}],"b":${digits}}`,
      );
    }),
  );
});

test("numbers in every notation beside a long integer keep their values", () => {
  const spellings = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
    fc.constantFrom("0.12345678901234567890", "1e-1234567890123456789", "12345678901234567890e2", "-0", "1.5E+3", "0"),
    fc
      .string({ unit: fc.constantFrom("1234567890123456789", '"', "\\", ":", "-") })
      .map((text) => JSON.stringify(text)),
  );
  fc.assert(
    fc.property(fc.array(spellings), (parts) => {
      const value = parse(
        `[12345678901234567890,{"__proto__":${parts[0] ?? 1}},${["1", ...parts].join(" , ")}]`,
      ) as unknown[];
      const rest = value.slice(3).map((item) => (isRawNumber(item) ? item.rawJSON : item));
      expect(rest).toEqual(
        parts.map((part) => {
          const plain = JSON.parse(part) as unknown;
          return /^-?\d+$/.test(part) && !Number.isSafeInteger(plain) ? part : plain;
        }),
      );
      expect(Object.keys(value[1] as object)).toEqual(["__proto__"]);
    }),
  );
});

test("a run of digits inside text is unchanged", () => {
  const value = parse('{"a":"x:1234567890123456789","n":12345678901234567890,"f":1.2345678901234567}');
  expect(JSON.stringify(value)).toBe('{"a":"x:1234567890123456789","n":12345678901234567890,"f":1.2345678901234567}');
  expect(isRawNumber((value as { n: unknown }).n)).toBe(true);
});

test("Python's bare NaN and Infinity are read as null, but not inside text", () => {
  expect(parse('{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \\" Infinity","d":1e999}')).toEqual({
    a: null,
    b: [null, null],
    c: 'NaN " Infinity',
    d: Number.POSITIVE_INFINITY,
  });
});

test.each([
  ['{"a":"x\\ud83dy"}', { a: "x\uFFFDy" }],
  ['{"a":"\\ude00"}', { a: "\uFFFD" }],
  ['{"a":"\\u0000"}', { a: "\uFFFD" }],
  ['{"a":"\\ud83d\\ude00"}', { a: "😀" }],
  ['{"a":"\\\\ud83d"}', { a: "\\ud83d" }],
  ['{"\\ud83dk":["\\ud83d",{"b":"\\u0000"}]}', { "\uFFFDk": ["\uFFFD", { b: "\uFFFD" }] }],
])("bad code units of %s are replaced, good ones kept", (text, expected) => {
  expect(parse(text)).toEqual(expected);
});

test("bytes that are not UTF-8 are read as U+FFFD", () => {
  expect(parse(Buffer.concat([Buffer.from('{"a":"x'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]))).toEqual({
    a: "x\uFFFD\uFFFD",
  });
});

test("cleaning reaches any depth and never loses a value", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
      const cleaned = cleanDeep({ texts }) as { texts: string[] };
      expect(cleaned.texts).toHaveLength(texts.length);
      for (const text of cleaned.texts) expect(text.isWellFormed() && !text.includes("\0")).toBe(true);
    }),
  );
  let deep: unknown = "\ud83d";
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  expect(() => cleanDeep(deep)).not.toThrow();
});

test("errors never quote the body", () => {
  const result = parseJson(Buffer.from('{"secret": "sk-12345" oops}'));
  expect(result.ok).toBe(false);
  expect(JSON.stringify(result)).not.toContain("sk-12345");
});

test("shape bounds are exact", () => {
  const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown;
  expect(exceedsShape(nested(256), 256, 1000)).toBeUndefined();
  expect(exceedsShape(nested(257), 256, 1000)).toBe("depth");
  expect(exceedsShape(nested(100_000), 256, 1_000_000)).toBe("depth");
  expect(exceedsShape(Array.from({ length: 10 }), 5, 10)).toBeUndefined();
  expect(exceedsShape(Array.from({ length: 11 }), 5, 10)).toBe("nodes");
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""]));
  expect(exceedsShape({ a: members(4), b: members(4) }, 2, 10)).toBeUndefined();
  expect(exceedsShape({ a: members(4), b: members(5) }, 2, 10)).toBe("nodes");
  expect(exceedsShape({ a: [members(1)] }, 2, 10)).toBe("depth");
});

test("no text is retained after parsing, whatever it contains", () => {
  for (const text of ['{"a": 12345678901234567890}', '["\\ud800"]', "[NaN]", "[1, ]"]) {
    parseJsonText(text);
    parseStrictJson(Buffer.from(text));
    expect(Reflect.get(RegExp, "input")).toBe("");
  }
});

test("parseObjectText parses exactly the texts that are objects", () => {
  const space = fc.stringMatching(/^[ \t\r\n\uFEFF]{0,3}$/);
  const braces = fc.stringMatching(/^[{}[\]:,"1]{0,6}$/);
  const text = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
    braces,
  );
  fc.assert(
    fc.property(space, text, space, (before, within, after) => {
      const parsed = parseJsonText(before + within + after);
      const object = parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
      expect(parseObjectText(before + within + after)).toEqual(object);
    }),
  );
});

/** Keys and values of a tree. */
function nodesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.values(value);
  const keys = Array.isArray(value) ? 0 : members.length;
  return members.reduce((sum: number, member) => sum + nodesOf(member), 1 + keys);
}

test("the count is at least the number of nodes, and at most twice it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const nodes = nodesOf(value);
      const counted = countJsonNodes(bytes, 1e9);
      expect(counted).toBeGreaterThanOrEqual(nodes);
      expect(counted).toBeLessThanOrEqual(2 * nodes);
    }),
  );
});

test("the content of strings is not counted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(countJsonNodes(Buffer.from(JSON.stringify(text)), 10)).toBe(1);
    }),
  );
});

test("counting stops at the bound and at the end of the text", () => {
  expect(countJsonNodes(Buffer.from("[".repeat(1000)), 10)).toBe(11);
  for (const text of ['"', '"\\', '"\\"', "", '{"a', '\\"'])
    expect(countJsonNodes(Buffer.from(text), 10)).toBeLessThan(4);
});

test("bare NaN and Infinity become null only outside strings", () => {
  const token = fc.constantFrom("NaN", "Infinity", "-Infinity", "1", "null", "[", "]", ",", " ");
  const string = fc
    .string({ unit: fc.constantFrom("NaN", "Infinity", '"', "\\", "é", "x") })
    .map((text) => JSON.stringify(text));
  fc.assert(
    fc.property(fc.array(fc.oneof(token, string)), (parts) => {
      const expected = parts.map((part) => part.replace(/^-?(?:NaN|Infinity)$/, "null"));
      expect(nullNonFinite(parts.join(" "), 1000)).toBe(expected.join(" "));
    }),
  );
});

test.each([
  ["quotes", '"\\"'.repeat(200_000)],
  ["backslashes", `"${"\\".repeat(2_000_000)}`],
  ["strings that are never closed", `NaN "${'\\" '.repeat(500_000)}`],
  ["tokens", "NaN".repeat(300_000)],
])("a megabyte of %s takes no longer than reading it", (_name, text) => {
  const began = performance.now();
  nullNonFinite(text, 1e6);
  countJsonNodes(Buffer.from(text), 1e9);
  expect(performance.now() - began).toBeLessThan(1000);
});

test("a run of digits is found anywhere, and shorter runs are not", () => {
  const piece = fc.oneof(fc.stringMatching(/^[0-9]{0,40}$/), fc.stringMatching(/^[ -~]{0,20}$/), fc.string());
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      expect(holdsDigits(text, 16)).toBe(/\d{16}/.test(text));
    }),
    { numRuns: 2_000 },
  );
});
