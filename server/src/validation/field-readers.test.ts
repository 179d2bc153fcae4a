import { expect, test } from "vitest";
import { filterLimits } from "../filter/limits.ts";
import { Problem, createNestedJson } from "./field-readers.ts";

test.each([
  ["a tree", '{"a":[1,2]}', 5],
  ["text that is not JSON", "[1, 2, and so on", 4],
  [
    "a tree that is too deep",
    "[".repeat(filterLimits.spanDepth + 1) + "]".repeat(filterLimits.spanDepth + 1),
    filterLimits.spanDepth + 2,
  ],
])("%s counts towards the limit of a request each time it occurs", (_case, text, nodes) => {
  const nested = createNestedJson(3 * nodes);
  const refusal = `must not bring a request over ${3 * nodes} keys and values`;
  const reads = [1, 2, 3, 4].map(() => nested.read(text));
  expect(reads.map((read) => read instanceof Problem && read.message === refusal)).toEqual([false, false, false, true]);
});
