import fc from "fast-check";
import { expect, test } from "vitest";
import { readSpans } from "./read-spans.ts";
import { treeTotals } from "./totals.ts";
import { anyTree, node } from "./trees.fixture.ts";

test("a span's own time is not covered by any descendant: parallel spans count once, and only within it", () => {
  const tree = [
    node("root", [0, 100], {}, [
      node("a", [-20, 10]),
      node("b", [20, 50]),
      node("c", [30, 40]),
      node("d", [45, 60]),
      node("late", [90, 500]),
    ]),
  ];
  const { selfTimes } = treeTotals(readSpans(tree));
  expect([...selfTimes]).toEqual([100 - 10 - 40 - 10, 30, 30, 10, 15, 410]);
});

test("a descendant that runs on after its parent is not the grandparent's own time either", () => {
  const tree = [node("agent", [0, 100], {}, [node("call", [10, 20], {}, [node("tool", [25, 60])])])];
  expect([...treeTotals(readSpans(tree)).selfTimes]).toEqual([100 - 10 - 35, 10, 35]);
});

test("own times of any tree equal those counted millisecond by millisecond", () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      const spans = readSpans(tree);
      const { selfTimes } = treeTotals(spans);
      for (const [index, own] of selfTimes.entries()) {
        let alone = 0;
        const below = [...spans.parents.keys()].filter((other) => other > index && other < spans.ends[index]!);
        for (let ms = spans.starts[index]!; ms < spans.finishes[index]!; ms += 1) {
          if (!below.some((child) => spans.starts[child]! <= ms && ms < spans.finishes[child]!)) alone += 1;
        }
        expect(own).toBe(alone);
      }
    }),
  );
});

test("sums counted costs and tokens, failures and missing prices of all descendants", () => {
  const call = { log_type: "chat", counted_tokens: 10 };
  const tree = [
    node("agent", [0, 9], { log_type: "agent", cost: 3, counted_cost: 0, counted_tokens: 0 }, [
      node("priced", [0, 1], { ...call, counted_cost: 3 }),
      node("unpriced", [0, 1], call, [node("tool", [0, 1], { log_type: "tool", status: "failed" })]),
    ]),
  ];
  const totals = treeTotals(readSpans(tree));
  expect([...totals.costs]).toEqual([3, 3, 0, 0]);
  expect([...totals.tokens]).toEqual([20, 10, 10, 0]);
  expect([...totals.failed]).toEqual([1, 0, 1, 1]);
  expect([...totals.unpriced]).toEqual([1, 0, 1, 0]);
  expect([...totals.priced]).toEqual([2, 1, 0, 0]);
});
