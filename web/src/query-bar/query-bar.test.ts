import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSpanCatalogue } from "../../../server/src/filter/span-fields.ts";
import { withNewMessages } from "../../../server/src/storage/spans/queries/new-messages.ts";
import { parseFilters } from "../../../server/src/filter/parse.ts";
import { findField, queryFields } from "./fields.ts";
import { fromFilters } from "./from-filters.ts";
import { parseQuery } from "./parse-query.ts";
import { printQuery } from "./print-query.ts";
import { isComparison, operatorsOf, type Query, type Term } from "./query.ts";
import { toFilters } from "./to-filters.ts";

const catalogue = withNewMessages(createSpanCatalogue());

const anyText = fc.string({
  unit: fc.constantFrom(
    ...Array.from("ab*:-=<>!~^$.,é漢_1"),
    " ",
    '"',
    "\\",
    "\n",
    "\t",
    "\u202E",
    "\uD800",
    "\0",
    "😀",
    "OR",
    "metadata.",
  ),
});
const someText = anyText.filter((text) => text !== "");
const key = fc
  .oneof(anyText, fc.constantFrom("plan", "a__b", "it's 100%"))
  .map((text) => text.toWellFormed().replaceAll("\0", ""))
  .filter((text) => text !== "" && !text.startsWith("_"));
const fieldName = fc.oneof(
  fc.constantFrom(...queryFields.map(({ name }) => name).filter((name) => name !== "new_messages")),
  key.map((text) => `metadata__${text}`),
  key.map((text) => `scores__${text}`),
);
const valuesByKind = {
  text: anyText,
  dynamic: anyText,
  number: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom("10", "-0.5", ".5", "1e3"),
  ),
  boolean: fc.constantFrom("true", "false", "TRUE"),
  time: fc.constantFrom("2026-11-29", "2026-11-29T10:00Z", "2026-11-29T10:00:01.5+02:00"),
};
const fieldTerm = fieldName.chain((name) => {
  const field = findField(name)!;
  return fc.constantFrom(...operatorsOf(field.kind)).chain((operator) =>
    fc.record({
      type: fc.constant("field" as const),
      field: fc.constant(name),
      operator: fc.constant(operator),
      values: fc.array(valuesByKind[field.kind], { minLength: 1, maxLength: isComparison(operator) ? 1 : 3 }),
      negated: isComparison(operator) ? fc.constant(false) : fc.boolean(),
    }),
  );
});
const term: fc.Arbitrary<Term> = fc.oneof(
  fieldTerm,
  fc.record({ type: fc.constant("text" as const), text: someText, negated: fc.boolean() }),
  fc.record({ type: fc.constant("has" as const), field: fieldName, negated: fc.boolean() }),
);
const query = fc.array(term, { maxLength: 5 });
const typed = fc.oneof(
  anyText,
  fc
    .array(fc.oneof(anyText, fc.constantFrom("cost>", "model:", "-", "has:", 'metadata."')), { maxLength: 6 })
    .map((parts) => parts.join("")),
);

describe("for every query", () => {
  test("its text parses to the same query", () => {
    fc.assert(
      fc.property(query, (each) => {
        const parsed = parseQuery(printQuery(each));
        expect(parsed.problems).toEqual([]);
        expect(parsed.query).toEqual(each);
      }),
      { numRuns: 2000 },
    );
  });

  test("the server accepts its filters, and they convert back to equivalent filters", () => {
    fc.assert(
      fc.property(query, (each) => {
        const filters = toFilters(each);
        const { filter, conditions } = parseFilters(JSON.parse(JSON.stringify(filters)), catalogue);
        expect(conditions).toBe(each.length);
        const back = fromFilters(filters);
        expect(back).toBeDefined();
        expect(parseFilters(toFilters(back!), catalogue).filter).toEqual(filter);
      }),
      { numRuns: 2000 },
    );
  });
});

test("any input parses without an exception, the server accepts the result, and every problem has a position", () => {
  fc.assert(
    fc.property(typed, (text) => {
      const { query, problems, tokens } = parseQuery(text);
      parseFilters(toFilters(query), catalogue);
      for (const { from, to } of problems) expect(0 <= from && from < to && to <= text.length).toBe(true);
      expect(tokens.filter(({ problem }) => problem !== undefined)).toHaveLength(tokens.length - query.length);
    }),
    { numRuns: 2000 },
  );
});

test("every field of the server has a name in queries, and vice versa", () => {
  const typed = new Set(queryFields.map(({ name }) => name));
  expect(catalogue.fields.map(({ name }) => name).filter((name) => !typed.has(name))).toEqual([]);
  for (const { name, kind } of queryFields) {
    const server = catalogue.find(name)?.kind;
    expect([name, server === "uuid" ? "text" : server]).toEqual([name, kind]);
  }
  expect(new Set(queryFields.map(({ word }) => word)).size).toBe(queryFields.length);
});

test.each<[typed: string, filters: unknown]>([
  ["model:gpt-4o", { model: [{ operator: "", value: ["gpt-4o"] }] }],
  ["model:a,b", { model: [{ operator: "in", value: ["a", "b"] }] }],
  ["-model:x", { model: [{ operator: "not", value: ["x"] }] }],
  ["model!=a,b", { model: [{ operator: "not_in", value: ["a", "b"] }] }],
  [
    "cost>0.01 cost<=$2",
    {
      cost: [
        { operator: "gt", value: [0.01] },
        { operator: "lte", value: [2] },
      ],
    },
  ],
  ["cost:>0.01", { cost: [{ operator: "gt", value: [0.01] }] }],
  ["latency>=150ms", { latency: [{ operator: "gte", value: [0.15] }] }],
  ["duration>2m", { latency: [{ operator: "gt", value: [120] }] }],
  ["tokens>10k", { total_tokens: [{ operator: "gt", value: [10_000] }] }],
  ["status:error", { status: [{ operator: "", value: ["failed"] }] }],
  ["metadata.plan:pro", { metadata__plan: [{ operator: "", value: ["pro"] }] }],
  ['metadata."a b">3', { "metadata__a b": [{ operator: "gt", value: ["3"] }] }],
  ["score.judge>=0.8", { scores__judge: [{ operator: "gte", value: ["0.8"] }] }],
  ['customer:"a b",c', { customer_identifier: [{ operator: "in", value: ["a b", "c"] }] }],
  ["error:timeout", { error_message: [{ operator: "icontains", value: ["timeout"] }] }],
  ["error=timeout", { error_message: [{ operator: "", value: ["timeout"] }] }],
  [
    "name^=run -name$=2",
    {
      span_name: [
        { operator: "startswith", value: ["run"] },
        { operator: "not_endswith", value: ["2"] },
      ],
    },
  ],
  ["failed:true", { failed: [{ operator: "", value: [true] }] }],
  ["started>2026-11-29T10:00Z", { start_time: [{ operator: "gt", value: ["2026-11-29T10:00Z"] }] }],
  [
    "has:note -has:cost",
    { note: [{ operator: "isnull", value: [false] }], cost: [{ operator: "isnull", value: [true] }] },
  ],
  [
    'refund -"exact words"',
    {
      any_text: [
        { operator: "icontains", value: ["refund"] },
        { operator: "not_icontains", value: ["exact words"] },
      ],
    },
  ],
  ['"a \\"b\\" \\n c"', { any_text: [{ operator: "icontains", value: ['a "b" \n c'] }] }],
])("%s becomes a filter", (text, filters) => {
  const parsed = parseQuery(text);
  expect(parsed.problems).toEqual([]);
  expect(toFilters(parsed.query)).toEqual(filters);
});

test.each<[typed: string, problem: string]>([
  ["colour:red", "colour:red: there is no field colour"],
  ["cost>abc", "cost>abc: cost needs a number"],
  ["cost~1", "cost~1: cost is a number"],
  ["cost>1,2", "a comparison takes one value"],
  ["-cost>1", "-cost>1: turn the comparison round"],
  ["stream:maybe", "stream is true or false"],
  ["started>yesterday", "started needs a time"],
  ["started>2026-02-30", "started needs a time"],
  ["model:", "model needs a value"],
  ["model:a,,b", "a value is missing"],
  ["model:gpt*", "* is no wildcard"],
  ['model:"a', "the quotation mark is not closed"],
  ['"a', "the quotation mark is not closed"],
  ["a OR b", "OR: terms hold together"],
  ["metadata._x:1", "reserved"],
  ["metadata.:1", "name a key"],
  ["has:colour", "there is no field colour"],
])("%s is rejected, naming the token", (text, problem) => {
  const { problems } = parseQuery(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toContain(problem);
});

test.each<[filters: unknown, text: string | undefined]>([
  [{ model: "gpt-4o" }, "model:gpt-4o"],
  [{ model: ["a", "b c"] }, 'model:a,"b c"'],
  [{ cost: { operator: "gt", value: 0.01 } }, "cost>0.01"],
  [{ latency: { operator: "gte", value: [2] } }, "latency>=2s"],
  [{ status: { value: ["failed"] } }, "status:error"],
  [{ "metadata__a b": "x" }, 'metadata."a b":x'],
  [{ note: { operator: "isnull", value: [true] } }, "-has:note"],
  [{ any_text: { operator: "icontains", value: ["two words"] } }, '"two words"'],
  [{ messages: { operator: "icontains", value: ["two words"] } }, 'messages:"two words"'],
  [{}, ""],
  [{ model: { value: ["a"], connector: "OR" } }, undefined],
  [{ connector: "OR", filter_params: [{ model: "a" }] }, undefined],
  [{ colour: "red" }, undefined],
  [{ cost: { operator: "gt", value: ["abc"] } }, undefined],
  [[], undefined],
])("filters %j are printed as %s", (filters, text) => {
  const query: Query | undefined = fromFilters(filters);
  expect(query && printQuery(query)).toBe(text);
});

test("the server's bounds are checked before a request", () => {
  const many = Array.from({ length: 101 }, () => "cost>1").join(" ");
  expect(parseQuery(many).problems.map(({ message }) => message)).toEqual(["A query may have 100 terms."]);
  expect(parseQuery(`model:${"x".repeat(8193)}`).problems[0]?.message).toContain("8192 characters");
  expect(parseQuery("new:a new:b new:c new:d new:e new:f").problems[0]?.message).toContain("5 terms on new");
});

const guide = readFileSync(new URL("../../../docs/typed-queries.md", import.meta.url), "utf8");
const examples = Array.from(guide.matchAll(/^\| (`.+?`) \|/gm), ([, cell = ""]) => cell.split("`, `"))
  .flat()
  .map((text) => text.replace(/^`|`$/g, ""));

test.each(examples.filter((text) => !text.includes("…")))(
  "the example %s of the guide is accepted by the server",
  (text) => {
    const { query, problems } = parseQuery(text);
    expect(problems).toEqual([]);
    expect(parseFilters(toFilters(query), catalogue).conditions).toBeGreaterThan(0);
  },
);
