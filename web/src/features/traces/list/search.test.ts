import { expect, test } from "vitest";
import { nextOrder, parseTracesSearch } from "./search.ts";

test("keeps valid parameters, and omits default values", () => {
  expect(parseTracesSearch({ q: "status:error", sort: "-total_cost" })).toEqual({
    q: "status:error",
    sort: "-total_cost",
  });
  expect(parseTracesSearch({ q: "", sort: "-timestamp" })).toEqual({});
  expect(parseTracesSearch({ sort: "-password", q: ["a", "b"] })).toEqual({});
});

test("a click on a head sorts descending, then ascending, then by the default", () => {
  expect(nextOrder("-timestamp", "total_cost")).toBe("-total_cost");
  expect(nextOrder("-total_cost", "total_cost")).toBe("total_cost");
  expect(nextOrder("total_cost", "total_cost")).toBe("-timestamp");
  expect(nextOrder("-timestamp", "timestamp")).toBe("timestamp");
  expect(nextOrder("timestamp", "timestamp")).toBe("-timestamp");
});
