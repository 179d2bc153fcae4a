import { expect, test } from "vitest";
import { formatCost, formatCount, formatDuration } from "../lib/format.ts";
import { alignDecimals } from "./tick-labels.ts";

test("labels of one unit have the same number of decimals; zero and other units stay", () => {
  expect(alignDecimals([0, 0.008, 0.01, 0.012].map(formatCost))).toEqual(["$0", "$0.008", "$0.010", "$0.012"]);
  expect(alignDecimals([0, 0.5, 1].map(formatCost))).toEqual(["$0", "$0.50", "$1.00"]);
  expect(alignDecimals([0, 500, 1000, 1500].map(formatCount))).toEqual(["0", "500", "1.0k", "1.5k"]);
  expect(alignDecimals([0, 0.5, 1, 1.5].map(formatDuration))).toEqual(["0 s", "500 ms", "1.0 s", "1.5 s"]);
  expect(alignDecimals(["0", null, "1,500", "2 min 5 s", "40"])).toEqual(["0", null, "1,500", "2 min 5 s", "40"]);
});
