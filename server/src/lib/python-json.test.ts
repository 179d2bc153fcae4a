import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pythonJson } from "./python-json.ts";

describe("writes text as json.dumps does", () => {
  test.each([
    ['{"a":1,"b":[1,2],"c":{}}', '{"a": 1, "b": [1, 2], "c": {}}'],
    ["[]", "[]"],
    ['{ "a" :\n [ true , false,null ] }', '{"a": [true, false, null]}'],
    ['"é\u007f\u2028😀"', '"\\u00e9\\u007f\\u2028\\ud83d\\ude00"'],
    ['"\\u0041\\/\\n\\r\\t\\f\\b\\u0001\\"\\\\"', '"A/\\n\\r\\t\\f\\b\\u0001\\"\\\\"'],
    ['{"a, b: 1.0":"1.0, 2"}', '{"a, b: 1.0": "1.0, 2"}'],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
    ["-0", "0"],
    ["-0.0", "-0.0"],
    ["1.0", "1.0"],
    ["1.50", "1.5"],
    ["0.0001", "0.0001"],
    ["0.00001", "1e-05"],
    ["-1.5e-7", "-1.5e-07"],
    ["1e15", "1000000000000000.0"],
    ["1e16", "1e+16"],
    ["1E22", "1e+22"],
    ["1.25e300", "1.25e+300"],
    ["123456789012345680.0", "1.2345678901234568e+17"],
    ["1234567.125", "1234567.125"],
    ["1e999", "null"],
  ])("%s", (json, expected) => {
    expect(pythonJson(json)).toBe(expected);
  });
});

const anything = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });

test("the value stays the same, and rewriting is idempotent", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const json = JSON.stringify(value);
      const written = pythonJson(json);
      expect(JSON.parse(written)).toEqual(JSON.parse(json));
      expect(pythonJson(written)).toBe(written);
      expect(written).toMatch(/^[ -~]*$/);
    }),
  );
});

test("escapes are treated like the characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"));
      const escaped = `"${units.map((hex) => `\\u${hex.toUpperCase()}`).join("")}"`;
      expect(pythonJson(escaped)).toBe(pythonJson(JSON.stringify(text)));
    }),
  );
});

test("long strings of escapes take linear time", () => {
  const json = JSON.stringify(`"\\é`.repeat(300_000));
  const started = performance.now();
  expect(pythonJson(json)).toHaveLength(2 + 300_000 * 10);
  expect(performance.now() - started).toBeLessThan(2_000);
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;

test.skipIf(!hasPython)("gives the same result as Python", () => {
  const values = fc.sample(fc.oneof(anything, fc.double({ noNaN: true, noDefaultInfinity: true })), 300);
  const lines = values.map((value) => JSON.stringify(value));
  const script = "import json,sys\nfor line in sys.stdin: print(json.dumps(json.loads(line)))";
  const { stdout } = spawnSync("python3", ["-c", script], { input: `${lines.join("\n")}\n`, encoding: "utf8" });
  expect(lines.map(pythonJson)).toEqual(stdout.trimEnd().split("\n"));
});
