import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildSpanTree, type TreeSpan } from "./span-tree.ts";

const span = (id: string, parent = "", start = id): TreeSpan => ({
  unique_id: `u-${id}`,
  span_unique_id: id,
  span_parent_id: parent,
  start_time: start,
  timestamp: start,
});

/** `a(b(d)c)` */
function draw(spans: readonly TreeSpan[]): string {
  const { roots, children } = buildSpanTree(spans);
  const drawn = (index: number): string => {
    const below = (children[index] ?? []).map(drawn).join(" ");
    return `${spans[index]?.span_unique_id}${below === "" ? "" : `(${below})`}`;
  };
  return roots.map(drawn).join(" ");
}

describe("the tree of a trace", () => {
  test.each<[name: string, spans: TreeSpan[], tree: string]>([
    ["nothing", [], ""],
    ["children before their parents", [span("c", "b"), span("b", "a"), span("a")], "a(b(c))"],
    ["siblings by start, to the nanosecond", [span("a"), span("x", "a", "…001"), span("y", "a", "…000")], "a(y x)"],
    ["two roots", [span("b"), span("a"), span("c", "b")], "a b(c)"],
    ["a parent that never arrived", [span("a"), span("o", "gone"), span("p", "o")], "a o(p)"],
    ["a span that is its own parent", [span("a", "a"), span("b", "a")], "a(b)"],
    ["a cycle of two, cut above the earliest", [span("b", "a"), span("a", "b")], "a(b)"],
    ["a cycle with a tail that began before it", [span("a", "c"), span("b", "c"), span("c", "b")], "b(c(a))"],
    ["a cycle beside a root", [span("r"), span("a", "b"), span("b", "a")], "a(b) r"],
    ["spans without an id", [span("", "gone"), span("x")], " x"],
  ])("%s", (_name, spans, tree) => {
    expect(draw(spans)).toBe(tree);
  });

  test("has every span once, for any parents and any order", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "e", "f", "");
    const spans = fc.uniqueArray(fc.tuple(id, id, fc.nat(3)), { selector: ([own]) => own, maxLength: 7 });
    fc.assert(
      fc.property(spans, fc.infiniteStream(fc.nat()), (rows, noise) => {
        const list = rows.map(([own, parent, start]) => span(own, parent, String(start)));
        const shuffled = list
          .map((one) => ({ one, key: Number(noise.next().value) }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(draw(shuffled)).toBe(draw(list));
        const { roots, children } = buildSpanTree(list);
        const seen = [...roots, ...children.flat()].sort((a, b) => a - b);
        expect(seen).toEqual(list.map((_, index) => index));
      }),
    );
  });

  test("may be 100,000 deep or wide", () => {
    const chain = Array.from({ length: 100_000 }, (_, i) => span(String(i), i === 0 ? "" : String(i - 1), ""));
    expect(buildSpanTree(chain).roots).toHaveLength(1);
    const ring = chain.map((one) => (one.span_unique_id === "0" ? { ...one, span_parent_id: "99999" } : one));
    expect(buildSpanTree(ring).roots).toHaveLength(1);
    const star = chain.map((one) => ({ ...one, span_parent_id: one.span_unique_id === "0" ? "" : "0" }));
    expect(buildSpanTree(star).children[0]).toHaveLength(99_999);
  });
});
