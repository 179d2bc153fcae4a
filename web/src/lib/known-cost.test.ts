import { expect, test } from "vitest";
import { knownCost, unknownCostText } from "./known-cost.ts";

test("a cost of 0 is unknown only if calls have no price", () => {
  expect(knownCost({ total_cost: 0, unpriced_count: 0 })).toBe(0);
  expect(knownCost({ total_cost: 0, unpriced_count: 2 })).toBeNull();
  expect(knownCost({ total_cost: 0.5, unpriced_count: 2 })).toBe(0.5);
});

test("calls of unknown cost are counted in words", () => {
  expect(unknownCostText(1)).toBe("cost unknown for 1 call");
  expect(unknownCostText(3)).toBe("cost unknown for 3 calls");
});
