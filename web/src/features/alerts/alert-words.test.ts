import { expect, test } from "vitest";
import { conditionOf } from "./alert-words.ts";

test.each([
  ["gte", 100, "Cost up by 100% or more in 7d"],
  ["gt", 50, "Cost up by more than 50% in 7d"],
  ["lte", -20, "Cost down by 20% or more in 7d"],
  ["lt", 0, "Cost down by more than 0% in 7d"],
  ["lt", 50, "Cost change < +50% in 7d"],
  ["gte", -20, "Cost change ≥ -20% in 7d"],
] as const)("a change %s %d in words", (operator, change_percentage, words) => {
  expect(conditionOf({ metric: "total_cost", operator, threshold: null, change_percentage, window: "7d" })).toBe(words);
});
