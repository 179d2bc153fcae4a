import { describe, expect, test } from "vitest";
import { parseFilters } from "./parse.ts";
import { parseQuickFilters } from "./quick-filters.ts";
import { createSpanCatalogue } from "./span-fields.ts";

const catalogue = createSpanCatalogue();
const read = (query: string) => parseQuickFilters(new URLSearchParams(query), catalogue, []).filter;
const body = (filters: unknown) => parseFilters(filters, catalogue).filter;

describe("filters of a URL", () => {
  test.each<[query: string, filters: unknown]>([
    ["model=gpt-4o", { model: "gpt-4o" }],
    ["model=a&model=b", { model: ["a", "b"] }],
    ["model[]=a&model[]=b", { model: ["a", "b"] }],
    ["model[value]=a", { model: "a" }],
    ["cost[value]=0.5&cost[operator]=gt", { cost: { operator: "gt", value: 0.5 } }],
    ["cost[operator]=gt&cost[value]=0.5", { cost: { operator: "gt", value: 0.5 } }],
    ["model[value]=a, b&model[operator]=in", { model: ["a", "b"] }],
    ["model=a, b", { model: "a, b" }],
    ["stream=true", { stream: true }],
    ["model=a&status[value]=error&status[connector]=OR", { model: "a", status: { value: "error", connector: "OR" } }],
    ["metadata__plan=pro", { metadata__plan: "pro" }],
    ["plan=pro", { metadata__plan: "pro" }],
    ["attempt[value]=3&attempt[operator]=gte", { metadata__attempt: { operator: "gte", value: "3" } }],
    ["environment[value]=test&environment[operator]=not", { environment: { operator: "not", value: "test" } }],
    [
      "customer_identifier[operator]=isnull&customer_identifier[value]=true",
      { customer_identifier: { operator: "isnull", value: true } },
    ],
  ])("%s", (query, filters) => {
    expect(read(query)).toEqual(body(filters));
  });

  test("skips parameters that the route reads itself, and reports those that only other routes read", () => {
    const { filter, ignored } = parseQuickFilters(
      new URLSearchParams("page=2&log_type=chat&is_test=1&is_test=1&model=a"),
      catalogue,
      ["page", "log_type"],
    );
    expect([filter, ignored]).toEqual([body({ model: "a" }), ["is_test"]]);
  });

  test("names the parameters that it cannot read", () => {
    expect(() => read("cost=abc")).toThrow(/cost/);
    expect(() => read("cost[value]=1&cost[operator]=between")).toThrow(/between/);
    expect(() => read("_secret=1")).toThrow(/_secret/);
    expect(() => read("cost[opertor]=gt&cost[value]=1")).toThrow(
      'filter field "cost" has the unknown member "opertor"',
    );
  });
});
