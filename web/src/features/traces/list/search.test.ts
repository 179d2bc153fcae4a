import { expect, test } from "vitest";
import { nextOrder, parseTracesSearch } from "./search.ts";

test("keeps what the list knows, and leaves out what is as it is by default", () => {
  expect(parseTracesSearch({ q: "status:error", sort: "-total_cost" })).toEqual({
    q: "status:error",
    sort: "-total_cost",
  });
  expect(parseTracesSearch({ q: "", sort: "-timestamp" })).toEqual({});
  expect(parseTracesSearch({ sort: "-password", q: ["a", "b"] })).toEqual({});
});

test("a head sorts by the largest, then by the smallest, then as at first", () => {
  expect(nextOrder("-timestamp", "total_cost")).toBe("-total_cost");
  expect(nextOrder("-total_cost", "total_cost")).toBe("total_cost");
  expect(nextOrder("total_cost", "total_cost")).toBe("-timestamp");
  expect(nextOrder("-timestamp", "timestamp")).toBe("timestamp");
  expect(nextOrder("timestamp", "timestamp")).toBe("-timestamp");
});
