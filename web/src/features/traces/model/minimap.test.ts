import { expect, test } from "vitest";
import { boundsOf } from "./axis.ts";
import { failedPixel, minimapPixels } from "./minimap.ts";
import { readSpans } from "./read-spans.ts";
import { node } from "./trees.fixture.ts";

function lines(tree: Parameters<typeof readSpans>[0], size: { width: number; height: number }): string[] {
  const spans = readSpans(tree);
  const pixels = minimapPixels(spans, boundsOf(spans), size);
  const paint = (pixel: number) => (pixel === failedPixel ? "!" : pixel === 0 ? "." : String(pixel));
  return Array.from({ length: size.height }, (_, line) =>
    Array.from(pixels.subarray(line * size.width, (line + 1) * size.width), paint).join(""),
  );
}

test("draws spans from top to bottom, each at least one pixel wide", () => {
  const tree = [
    node("a", [0, 100], { log_type: "agent" }, [
      node("b", [20, 50], { log_type: "chat" }),
      node("c", [99, 100], { log_type: "tool", status: "failed" }),
    ]),
  ];
  expect(lines(tree, { width: 10, height: 6 })).toEqual([
    "1111111111",
    "..........",
    "..2222....",
    "..........",
    ".........!",
    "..........",
  ]);
});

test("keeps a failure visible among many spans that share a line", () => {
  const children = Array.from({ length: 5000 }, (_, n) =>
    node(`${n}`, [0, 10], { log_type: "chat", status: n === 3000 ? "failed" : "success" }),
  );
  const drawn = lines([node("root", [0, 10], { log_type: "chat" }, children)], { width: 4, height: 10 });
  expect(drawn).toHaveLength(10);
  expect(drawn[6]).toBe("!!!!");
  expect(drawn[5]).toBe("1111");
});
