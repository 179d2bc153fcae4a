import fc from "fast-check";
import { expect, test } from "vitest";
import { readSpans, type TreeNode } from "./read-spans.ts";
import { foldedAbove, hasRowsBelow, rowFor, treeRows } from "./rows.ts";
import { kindOf, type TraceSpans } from "./trace-spans.ts";
import { anyTree, chain, node } from "./trees.fixture.ts";

function choice(spans: TraceSpans, { folded = [], hidden = [] }: { folded?: string[]; hidden?: string[] }) {
  return {
    folded: Uint8Array.from(spans.ids, (id) => (folded.includes(id) ? 1 : 0)),
    hiddenKinds: Uint8Array.from(spans.kindNames, (kind) => (hidden.includes(kind) ? 1 : 0)),
  };
}

/** The expected rows, from a walk of the nested tree. */
function rowsByHand(tree: readonly TreeNode[], folded: string[], hidden: string[]): [string, number][] {
  const rows: [string, number][] = [];
  const list = (nodes: readonly TreeNode[], level: number): void => {
    for (const { unique_id, log_type, children } of nodes) {
      const isHidden = hidden.includes(log_type ?? "");
      if (!isHidden) rows.push([unique_id ?? "", level]);
      if (isHidden || !folded.includes(unique_id ?? "")) list(children ?? [], isHidden ? level : level + 1);
    }
  };
  list(tree, 0);
  return rows;
}

test("shows spans that are neither folded nor of a hidden kind, for any tree", () => {
  const choices = fc.record({
    tree: anyTree,
    folded: fc.array(fc.nat(60).map((n) => `s${n}`)),
    hidden: fc.subarray(["chat", "tool", "agent", "task"]),
  });
  fc.assert(
    fc.property(choices, ({ tree, folded, hidden }) => {
      const spans = readSpans(tree);
      const rows = treeRows(spans, choice(spans, { folded, hidden }));
      const shown = Array.from(rows.spans, (span, row): [string, number] => [spans.ids[span]!, rows.levels[row]!]);
      expect(shown).toEqual(rowsByHand(tree, folded, hidden));
      for (const [row, span] of rows.spans.entries()) expect(rows.rowOf[span]).toBe(row);
    }),
  );
});

test("a span without a row is represented by its nearest ancestor with one, and the spans to unfold are listed", () => {
  const tree = [node("a", [0, 9], {}, [node("b", [0, 9], {}, [node("c", [0, 9], {}, [node("d", [0, 9])])])])];
  const spans = readSpans(tree);
  const folded = choice(spans, { folded: ["b", "c"] });
  expect(rowFor(treeRows(spans, folded), spans, 3)).toBe(1);
  expect(foldedAbove(spans, folded.folded, 3)).toEqual([2, 1]);
  const none = choice(spans, { hidden: [kindOf(spans, 0)] });
  expect(rowFor(treeRows(spans, none), spans, 3)).toBe(-1);
});

test("reports nothing below a span if all descendants are hidden", () => {
  const tree = [node("a", [0, 1], { log_type: "agent" }, [node("t", [0, 1], { log_type: "tool" })])];
  const spans = readSpans(tree);
  expect(hasRowsBelow(spans, choice(spans, {}).hiddenKinds, 0)).toBe(true);
  expect(hasRowsBelow(spans, choice(spans, { hidden: ["tool"] }).hiddenKinds, 0)).toBe(false);
});

test("handles a chain of 5,000 levels", () => {
  const spans = readSpans(chain(5000));
  expect(treeRows(spans, choice(spans, {})).levels.at(-1)).toBe(4999);
  expect(treeRows(spans, choice(spans, { folded: ["d10"] })).spans.length).toBe(11);
});
