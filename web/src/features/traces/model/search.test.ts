import { expect, test } from "vitest";
import { readSpans } from "./read-spans.ts";
import { failedSpans, findSpans, slowestSpans, stepInList, stepInOrder } from "./search.ts";
import { node } from "./trees.fixture.ts";

const spans = readSpans([
  node("1", [0, 1], { span_name: "Plan trip", log_type: "agent", customer_identifier: "acme/eu" }, [
    node("2", [0, 1], {
      span_name: "call",
      log_type: "chat",
      model: "gpt-4o",
      error_message: "Rate limited",
      status: "failed",
    }),
    node("3-beef", [0, 1], { span_name: "search flights", log_type: "tool", span_unique_id: "00f1" }),
  ]),
]);

test.each([
  ["PLAN", [0]],
  ["gpt limited", [1]],
  ["tool", [2]],
  ["beef", [2]],
  ["00f1", [2]],
  ["acme", [0]],
  ["plan flights", []],
  ["  ", []],
])("finds %s", (query, found) => {
  expect([...findSpans(spans, query)]).toEqual(found);
});

test("lists failures in order, and the slowest first: calls and tools before wrappers", () => {
  expect([...failedSpans(spans)]).toEqual([1]);
  const ends = Int32Array.of(5, 2, 5, 4, 5);
  expect([...slowestSpans({ ends }, Float64Array.of(9, 1, 7, 3, 0), 3)]).toEqual([3, 1, 0]);
});

test("steps from the current position, and wraps around", () => {
  const sorted = Int32Array.of(3, 7, 9);
  expect([stepInOrder(sorted, -1, 1), stepInOrder(sorted, 7, 1), stepInOrder(sorted, 9, 1)]).toEqual([3, 9, 3]);
  expect([stepInOrder(sorted, 8, -1), stepInOrder(sorted, 3, -1)]).toEqual([7, 9]);
  expect(stepInOrder(new Int32Array(), 0, 1)).toBeUndefined();
  const ranked = Int32Array.of(5, 1, 8);
  expect([
    stepInList(ranked, 0, 1),
    stepInList(ranked, 5, 1),
    stepInList(ranked, 8, 1),
    stepInList(ranked, 5, -1),
  ]).toEqual([5, 1, 5, 8]);
});
