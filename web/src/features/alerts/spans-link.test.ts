import { expect, test } from "vitest";
import { logsLinkOf } from "./spans-link.ts";

const linkOf = (filters: object | undefined, environment = "prod") => {
  const query = new URLSearchParams({
    environment,
    start_time: "2026-03-01T10:00:00Z",
    end_time: "2026-03-01T10:59:59.999999999Z",
    ...(filters && { filters: JSON.stringify({ connector: "AND", filter_params: filters }) }),
  });
  return logsLinkOf(`/api/request-logs/list/?${query.toString()}`);
};

test("the filters of the rule and its group become a query over the window", () => {
  const group = { customer_identifier: { operator: "", value: ["acme inc"] } };
  expect(linkOf([{ model: { operator: "", value: ["gpt-4o"] } }, group], "test")).toEqual({
    q: 'model:gpt-4o customer:"acme inc"',
    range: undefined,
    from: "2026-03-01T10:00:00.000Z",
    to: "2026-03-01T10:59:59.999Z",
    env: "test",
  });
});

test("the group without a value becomes a condition on a missing field", () => {
  expect(linkOf([{ metadata__plan: { operator: "isnull", value: true } }])?.q).toBe("-has:metadata.plan");
});

test("a rule without filters links to all spans of the window, in production unless it names an environment", () => {
  expect(linkOf(undefined)).toMatchObject({ q: undefined, env: undefined });
});

test("filters that the query language cannot express have no link, instead of one to other spans", () => {
  const either = { connector: "OR", filter_params: [{ model: "a" }, { status: "error" }] };
  expect(linkOf([either, { model: { operator: "", value: ["b"] } }])).toBeUndefined();
});
