import fc from "fast-check";
import { expect, test } from "vitest";
import { flameBars, flameDepth, flameOfNames, flameOfSpans } from "./flame.ts";
import { readSpans } from "./read-spans.ts";
import { treeTotals } from "./totals.ts";
import { anyTree, chain, node } from "./trees.fixture.ts";

const everything = { focus: -1, width: 100, first: 0, last: 99 };

const loop = readSpans([
  node("run", [0, 100], { log_type: "agent" }, [
    node("1", [0, 10], { span_name: "turn" }, [node("2", [0, 10], { span_name: "call" })]),
    node("3", [10, 20], { span_name: "other" }),
    node("4", [20, 40], { span_name: "turn" }, [node("5", [20, 30], { span_name: "call" })]),
  ]),
]);

test("gives each span its share of the width, left to right below its parent", () => {
  const own = treeTotals(loop).selfTimes;
  const bars = flameBars(flameOfSpans(loop, own), everything);
  expect(bars.map(({ node, x, width, level }) => [node, x, width, level])).toEqual([
    [0, 0, 100, 0],
    [1, 0, 10, 1],
    [2, 0, 10, 2],
    [3, 10, 10, 1],
    [4, 20, 20, 1],
    [5, 20, 10, 2],
  ]);
});

test("merges spans with the same name below one parent", () => {
  const tree = flameOfNames(loop, treeTotals(loop).selfTimes);
  const bars = flameBars(tree, everything);
  expect(bars.map(({ node, x, width }) => [loop.ids[tree.spans[node]!], tree.counts[node], x, width])).toEqual([
    ["run", 1, 0, 100],
    ["1", 2, 0, 30],
    ["2", 2, 0, 20],
    ["3", 1, 30, 10],
  ]);
});

test("shows a focused node at full width, below its ancestors", () => {
  const tree = flameOfSpans(loop, treeTotals(loop).selfTimes);
  expect(flameBars(tree, { ...everything, focus: 4 })).toEqual([
    { node: 0, x: 0, width: 100, level: 0 },
    { node: 4, x: 0, width: 100, level: 1 },
    { node: 5, x: 0, width: 50, level: 2 },
  ]);
});

test("merged or not, weights add up and bars stay within their parents", () => {
  fc.assert(
    fc.property(anyTree, (roots) => {
      const spans = readSpans(roots);
      for (const make of [flameOfSpans, flameOfNames]) {
        const tree = make(spans, spans.countedCosts);
        const all = spans.countedCosts.reduce((sum, cost) => sum + (Number.isNaN(cost) ? 0 : cost), 0);
        expect(tree.total).toBeCloseTo(all, 6);
        expect(tree.counts.reduce((sum, count) => sum + count, 0)).toBe(spans.count);
        const bars = flameBars(tree, { ...everything, width: 1e6 });
        const barOf = new Map(bars.map((bar) => [bar.node, bar]));
        for (const { node, x, width } of bars) {
          const above = barOf.get(tree.parents[node] ?? -2);
          if (node === -1 || above === undefined) continue;
          expect(x).toBeGreaterThanOrEqual(above.x - 1e-3);
          expect(x + width).toBeLessThanOrEqual(above.x + above.width + 1e-3);
        }
      }
    }),
  );
});

test("draws no more bars than fit, and only visible levels", () => {
  const many = readSpans([
    node(
      "root",
      [0, 45_000],
      {},
      Array.from({ length: 45_000 }, (_, n) => node(`${n}`, [n, n + 1])),
    ),
  ]);
  const bars = flameBars(flameOfSpans(many, treeTotals(many).selfTimes), { ...everything, width: 1000 });
  expect(bars.map(({ node, width }) => [node, Math.round(width)])).toEqual([
    [0, 1000],
    [-1, 1000],
  ]);
  const deep = readSpans(chain(5000));
  const tree = flameOfSpans(
    deep,
    deep.starts.map(() => 1),
  );
  expect(flameDepth(tree)).toBe(4999);
  expect(flameBars(tree, { focus: -1, width: 1000, first: 4, last: 6 }).map(({ level }) => level)).toEqual([4, 5, 6]);
});

test("shows nothing if all weights are zero", () => {
  expect(flameBars(flameOfSpans(loop, loop.countedCosts), everything)).toEqual([]);
});
