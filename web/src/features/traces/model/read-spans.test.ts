import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMs, readSpans, readTable, tableFields, type TreeNode } from "./read-spans.ts";
import { buffersOf, hasFlag, kindOf, labelOf, textOf } from "./trace-spans.ts";
import { anyTree, chain, ms, node } from "./trees.fixture.ts";

test("puts each span before its descendants, and marks where they end", () => {
  const tree = [
    node("a", [0, 9], {}, [node("b", [1, 2], {}, [node("c", [1, 1])]), node("d", [3, 4])]),
    node("e", [5, 6]),
  ];
  const spans = readSpans(tree);
  expect(spans.ids).toEqual(["a", "b", "c", "d", "e"]);
  expect([...spans.parents]).toEqual([-1, 0, 1, 0, -1]);
  expect([...spans.ends]).toEqual([4, 3, 3, 4, 5]);
  expect([...spans.depths]).toEqual([0, 1, 2, 1, 0]);
});

test("keeps every span of any tree once, below its parent", () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      const spans = readSpans(tree);
      const byHand: [string, string | undefined][] = [];
      const list = (nodes: readonly TreeNode[], parent: string | undefined): void => {
        for (const { unique_id, children } of nodes) {
          byHand.push([unique_id ?? "", parent]);
          list(children ?? [], unique_id ?? "");
        }
      };
      list(tree, undefined);
      expect(spans.ids.map((id, index) => [id, spans.ids[spans.parents[index]!]])).toEqual(byHand);
    }),
  );
});

test("reads the same from the table of any tree as from the tree", () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      const rows: unknown[][] = [];
      const parents: (number | null)[] = [];
      const list = (nodes: readonly TreeNode[], parent: number | null): void => {
        for (const each of nodes) {
          const row = rows.push(tableFields.map((field) => each[field] ?? null)) - 1;
          parents.push(parent);
          list(each.children ?? [], row);
        }
      };
      list(tree, null);
      expect(readTable({ members: tableFields, parents, rows })).toEqual(readSpans(tree));
    }),
  );
});

test("reads a chain of 50,000 levels", () => {
  const spans = readSpans(chain(50_000));
  expect(spans.depths.at(-1)).toBe(49_999);
  expect(spans.ends.every((end) => end === 50_000)).toBe(true);
});

test("distinguishes unknown from zero, and times to the microsecond", () => {
  const spans = readSpans([
    { ...node("a", [0, 9]), cost: 0, latency: null, start_time: "2026-05-05T05:00:00.123456Z" },
    { unique_id: "b", timestamp: "2026-05-05T05:00:00Z", cost: null, latency: 1.5 },
  ]);
  expect([...spans.costs]).toEqual([0, Number.NaN]);
  expect([...spans.durations]).toEqual([Number.NaN, 1500]);
  expect(spans.starts[0]).toBeCloseTo(ms(123.456), 3);
  // Without a start time the span has zero length.
  expect([spans.starts[1], spans.finishes[1]]).toEqual([ms(0), ms(0)]);
  expect(parseMs("no time")).toBeNaN();
});

test("marks failures, calls without a price, orphans, cut cycles and ends before starts", () => {
  const spans = readSpans([
    node("failed", [0, 1], { status: "failed", log_type: "tool" }),
    node("refused", [0, 1], { status_code: 429, status: "success", counted_cost: 0, log_type: "chat" }),
    node("unpriced", [0, 1], { log_type: "chat" }),
    node("orphan", [0, 1], { span_parent_id: "gone", span_unique_id: "o" }),
    node("cycle", [0, 1], { span_parent_id: "y", span_unique_id: "x" }, [
      node("below", [0, 1], { span_parent_id: "x", span_unique_id: "y" }),
    ]),
    node("reversed", [5, 1]),
  ]);
  const marked = (flag: Parameters<typeof hasFlag>[2]) => spans.ids.filter((_, index) => hasFlag(spans, index, flag));
  expect(marked("failed")).toEqual(["failed", "refused"]);
  expect(marked("unpriced")).toEqual(["unpriced"]);
  expect(marked("orphan")).toEqual(["orphan"]);
  expect(marked("brokenCycle")).toEqual(["cycle"]);
  expect(marked("reversed")).toEqual(["reversed"]);
  expect(spans.namedParents.get(3)).toBe("gone");
  expect(spans.finishes.at(-1)).toBe(ms(5));
});

test("labels spans by what is known of them", () => {
  const spans = readSpans([
    { unique_id: "1", span_name: "plan", log_type: "task" },
    { unique_id: "2", model: "gpt-4o", log_type: "chat" },
    { unique_id: "3", log_type: "tool" },
    { unique_id: "4" },
  ]);
  expect(spans.ids.map((_, index) => labelOf(spans, index))).toEqual(["plan", "gpt-4o", "tool", "unknown"]);
  expect(kindOf(spans, 3)).toBe("unknown");
  expect(textOf(spans, spans.models, 1)).toBe("gpt-4o");
});

test("transfers completely between threads", () => {
  const spans = readSpans([node("a", [0, 1], { cost: 2, span_name: "n" })]);
  const before = structuredClone(spans);
  expect(structuredClone(spans, { transfer: buffersOf(spans) })).toEqual(before);
  expect(spans.starts.length).toBe(0);
});
