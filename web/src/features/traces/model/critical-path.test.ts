import fc from "fast-check";
import { expect, test } from "vitest";
import { criticalPath } from "./critical-path.ts";
import { readSpans, type TreeNode } from "./read-spans.ts";
import { anyTree, chain, ms, node } from "./trees.fixture.ts";

function pathOf(tree: TreeNode[]): [string, number, number][] {
  const spans = readSpans(tree);
  return criticalPath(spans).segments.map(({ span, from, to }) => [spans.ids[span]!, from - ms(0), to - ms(0)]);
}

test("goes backwards through the children that ended last, and through the span itself between them", () => {
  const tree = [
    node("root", [0, 100], {}, [
      node("plan", [10, 30]),
      node("search", [35, 60]),
      node("slow search", [35, 80], {}, [node("query", [40, 70])]),
    ]),
  ];
  expect(pathOf(tree)).toEqual([
    ["root", 0, 10],
    ["plan", 10, 30],
    ["root", 30, 35],
    ["slow search", 35, 40],
    ["query", 40, 70],
    ["slow search", 70, 80],
    ["root", 80, 100],
  ]);
});

test("excludes spans that ended after the root, or were still running when the next one began", () => {
  expect(pathOf([node("root", [0, 50], {}, [node("background", [10, 500])])])).toEqual([
    ["root", 0, 10],
    ["background", 10, 50],
  ]);
  expect(pathOf([node("root", [0, 50], {}, [node("parallel", [0, 30]), node("last", [20, 50])])])).toEqual([
    ["root", 0, 20],
    ["last", 20, 50],
  ]);
});

test("follows tools that run on after the call that requested them; the time between them is the agent's own", () => {
  const tree = [
    node("agent", [0, 100], {}, [node("call", [10, 20], {}, [node("tool", [25, 60])]), node("answer", [60, 90])]),
  ];
  expect(pathOf(tree)).toEqual([
    ["agent", 0, 10],
    ["call", 10, 20],
    ["agent", 20, 25],
    ["tool", 25, 60],
    ["answer", 60, 90],
    ["agent", 90, 100],
  ]);
});

test("clamps a child with a slow clock to its parent's start, and follows roots in sequence", () => {
  expect(pathOf([node("root", [10, 50], {}, [node("early", [0, 20])])])).toEqual([
    ["early", 10, 20],
    ["root", 20, 50],
  ]);
  expect(pathOf([node("first", [0, 10]), node("second", [20, 30])])).toEqual([
    ["first", 0, 10],
    ["second", 20, 30],
  ]);
});

test("for any trace, segments follow each other and lie within their spans", () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      const spans = readSpans(tree);
      const { segments, isOn } = criticalPath(spans);
      let before = Number.NEGATIVE_INFINITY;
      for (const { span, from, to } of segments) {
        expect(isOn[span]).toBe(1);
        expect(to).toBeGreaterThan(from);
        expect(from).toBeGreaterThanOrEqual(Math.max(before, spans.starts[span]!));
        expect(to).toBeLessThanOrEqual(spans.finishes[span]!);
        before = to;
      }
    }),
  );
});

test("for any trace with one root, segments leave no gap", () => {
  fc.assert(
    fc.property(anyTree, (roots) => {
      const spans = readSpans([node("root", [0, 2000], {}, roots)]);
      const length = criticalPath(spans).segments.reduce((sum, { from, to }) => sum + to - from, 0);
      expect(length).toBe(2000);
    }),
  );
});

test("handles 5,000 levels", () => {
  expect(pathOf(chain(5000))).toHaveLength(5000);
});
