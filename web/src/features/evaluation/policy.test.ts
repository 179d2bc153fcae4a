import { expect, test } from "vitest";
import { parseQuery } from "../../query-bar/parse-query.ts";
import { filtersOfPolicy, policyOf, policyText, queryOf } from "./policy.ts";

test.each([
  "",
  "type:chat code<400",
  'metadata.plan:pro,free -model:gpt-4o "exact words"',
  "has:thread cost>=0.01 latency>2s",
])("the rules of %j convert to the same query", (text) => {
  const policy = policyOf(parseQuery(text).query);
  expect(policyText(policy)).toBe(text);
  expect(filtersOfPolicy(policy)).toBeDefined();
});

const rules = [
  { field: "cost", operator: "greater_than", value: 1 },
  { field: "model", operator: "equals", value: "a" },
];

test("rules joined with OR are shown and listed unchanged, but are no query", () => {
  expect(queryOf({ rules, connector: "OR" })).toBeUndefined();
  expect(policyText({ rules, connector: "OR" })).toBe("cost greater than 1 or model equals a");
  expect(filtersOfPolicy({ rules, connector: "OR" })).toEqual({
    connector: "OR",
    filter_params: [{ cost: { operator: "greater_than", value: 1 } }, { model: { operator: "equals", value: "a" } }],
  });
});

test("rules joined in two ways have neither a query nor filters", () => {
  const [first, second] = rules;
  const mixed = { rules: [first!, { ...second!, connector: "OR" }, first!], connector: "AND" as const };
  expect(queryOf(mixed)).toBeUndefined();
  expect(filtersOfPolicy(mixed)).toBeUndefined();
});
