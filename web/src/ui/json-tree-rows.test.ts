import { describe, expect, test } from "vitest";
import { canOpen, parentOf, pathText, sizeOf, startTree, toggleRow, type JsonRow } from "./json-tree-rows.ts";

const options = { lineChars: 20 };
const labels = (rows: readonly JsonRow[]) => rows.map(({ label, depth }) => `${"  ".repeat(depth)}${label ?? "$"}`);
const rowOf = (rows: readonly JsonRow[], label: string | number) => rows.findIndex((row) => row.label === label);

describe("opening and closing", () => {
  const value = { a: [1, 2], b: { c: { d: { e: { f: null } } } }, "": "x", "7": 0 };
  test("the first levels are expanded, deeper ones open one by one", () => {
    let rows = startTree(value, options);
    expect(labels(rows)).toEqual(["$", "  7", "  a", "    0", "    1", "  b", "    c", "      d", "  "]);
    rows = toggleRow(rows, rowOf(rows, "d"), options);
    expect(labels(rows)).toContain("        e");
  });

  test("collapsing removes all descendants, and nothing else", () => {
    const rows = startTree(value, options);
    const closed = toggleRow(rows, rowOf(rows, "b"), options);
    expect(labels(closed)).toEqual(["$", "  7", "  a", "    0", "    1", "  b", "  "]);
    expect(labels(toggleRow(closed, 0, options))).toEqual(["$"]);
  });

  test("a row without children does not open", () => {
    const rows = startTree([null, true, 1, "short", {}, []], options);
    expect(rows.slice(1).map((row) => canOpen(row, options))).toEqual([false, false, false, false, false, false]);
    expect(toggleRow(rows, 1, options)).toEqual(rows);
  });

  test("members named like properties of JavaScript objects are ordinary members", () => {
    const rows = startTree(JSON.parse('{"__proto__":{"a":1},"constructor":2,"length":3}'), options);
    expect(labels(rows)).toEqual(["$", "  __proto__", "    a", "  constructor", "  length"]);
  });

  test("the parent of a row", () => {
    const rows = startTree(value, options);
    expect(rows[parentOf(rows, rowOf(rows, "d"))]?.label).toBe("c");
    expect(parentOf(rows, 0)).toBe(-1);
  });

  test("every row has a unique id", () => {
    let rows = startTree({ "a/b": { c: 1 }, a: { "b/c": 1 }, 1: 1, list: [1], text: "x".repeat(100) }, options);
    rows = toggleRow(rows, rowOf(rows, "text"), options);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });
});

describe("large values", () => {
  test("a list expands to nested ranges that cover it", () => {
    const value = Array.from({ length: 600_000 }, (_value, at) => at);
    let rows = toggleRow(startTree(value, options), 0, options);
    expect(rows.length).toBe(4);
    rows = toggleRow(rows, 3, options);
    expect(rows.at(-1)?.content).toMatchObject({ kind: "range", from: 599_500, to: 600_000 });
    rows = toggleRow(rows, rows.length - 1, options);
    expect(rows.at(-1)).toMatchObject({ path: [599_999], content: { value: 599_999 } });
  });

  test("an object with many members expands to ranges too", () => {
    const value = Object.fromEntries(Array.from({ length: 1200 }, (_value, at) => [`k${at}`, at]));
    const rows = toggleRow(toggleRow(startTree(value, options), 0, options), 3, options);
    expect(rows.at(-1)).toMatchObject({ label: "k1199", path: ["k1199"] });
  });

  test("ten megabytes, wide, deep or in one text, open without delay", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const values = [
      Array.from({ length: 100_000 }, (_value, at) => ({ role: "user", content: `message ${at} ${"x".repeat(80)}` })),
      deep,
      "word ".repeat(2_000_000),
      { text: "\n".repeat(10_000_000) },
    ];
    for (const value of values) {
      const start = performance.now();
      let rows = startTree(value, options);
      for (let step = 0; step < 20; step += 1) rows = toggleRow(rows, rows.length - 1, options);
      expect(performance.now() - start).toBeLessThan(1000);
      expect(rows.length).toBeLessThan(25_000);
    }
  });
});

describe("long text", () => {
  const lines = (rows: readonly JsonRow[]) =>
    rows.flatMap(({ content }) => (content.kind === "line" ? [content.text] : []));

  test("expands to lines, split at breaks and at the width", () => {
    const rows = toggleRow(startTree("one\n\ntwo words that do not fit on it\n", options), 0, options);
    expect(lines(rows)).toEqual(["one", "", "two words that do no", "t fit on it"]);
  });

  test("shows more on demand, and loses nothing", () => {
    const text = Array.from({ length: 2000 }, (_value, at) => `line ${at}`).join("\n");
    let rows = toggleRow(startTree(text, options), 0, options);
    expect([rows.length, rows.at(-1)?.content.kind]).toEqual([502, "more"]);
    for (let step = 0; step < 3; step += 1) rows = toggleRow(rows, rows.length - 1, options);
    expect(lines(rows).join("\n")).toBe(text);
    expect(labels(toggleRow(rows, 0, options))).toEqual(["$"]);
  });

  test("surrogate pairs are not split", () => {
    const text = `a${"😀".repeat(60)}`;
    const found = lines(toggleRow(startTree(text, options), 0, options));
    expect(found.every((line) => line.isWellFormed())).toBe(true);
    expect(found.join("")).toBe(text);
  });
});

test.each([
  [[], "$"],
  [["prompt_messages", 0, "content"], "prompt_messages[0].content"],
  [["a b", "c"], '["a b"].c'],
  [["x", "", 'q"'], 'x[""]["q\\""]'],
])("the path %j is printed as %s", (path, text) => {
  expect(pathText(path)).toBe(text);
});

test("sizes", () => {
  expect([sizeOf([1, 2]), sizeOf({ a: 1 }), sizeOf("abc"), sizeOf(null)]).toEqual([2, 1, 0, 0]);
});
