import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../domain/errors.ts";
import { rawJson } from "../lib/json.ts";
import { filterLimits } from "./limits.ts";
import type { Filter, FilterValue, Operator } from "./ast.ts";
import { parseConditions, parseFilters, parsePolicy } from "./parse.ts";
import { createSpanCatalogue } from "./span-fields.ts";

const catalogue = createSpanCatalogue();
const read = (filters: unknown) => parseFilters(filters, catalogue).filter;

function is(field: string, operator: Operator, ...values: FilterValue[]): Filter {
  return { type: "condition", field, operator, values };
}
const not = (filter: Filter): Filter => ({ type: "not", filter });

function rejectionOf(filters: unknown): ServiceError {
  try {
    parseFilters(filters, catalogue);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("was accepted");
}

describe("the shape of filters", () => {
  test("absent filters hold for every row", () => {
    for (const filters of [undefined, null, {}]) {
      expect(parseFilters(filters, catalogue)).toEqual({
        filter: { type: "all", filters: [] },
        conditions: 0,
        ignored: [],
      });
    }
  });

  test.each([
    ["operator and value", { model: { operator: "contains", value: ["gpt"] } }, is("model", "contains", "gpt")],
    ["absent operator", { model: { value: ["a", "b"] } }, is("model", "equal", "a", "b")],
    ["null operator", { model: { operator: null, value: ["a"] } }, is("model", "equal", "a")],
    ["value that is no array", { cost: { operator: "gt", value: 1 } }, is("cost", "gt", 1)],
    ["bare scalar", { model: "gpt-4o" }, is("model", "equal", "gpt-4o")],
    ["bare array", { model: ["a", "b"] }, is("model", "equal", "a", "b")],
    ["alias of a field", { workflow_name: "w" }, is("span_workflow_name", "equal", "w")],
    ["alias of a value", { status: "error" }, is("status", "equal", "failed")],
  ])("reads %s", (_name, filters, expected) => {
    expect(read(filters)).toEqual(expected);
  });

  test("a list of conditions is a range, several fields are joined by AND", () => {
    const filters = {
      cost: [
        { operator: "gt", value: [1] },
        { operator: "lt", value: [2] },
      ],
      model: "a",
    };
    const parts = [is("cost", "gt", 1), is("cost", "lt", 2), is("model", "equal", "a")];
    expect(read(filters)).toEqual({ type: "all", filters: parts });
  });

  test("a connector joins its condition to everything before it", () => {
    const filters = {
      model: "a",
      status: { value: "failed", connector: "OR" },
      cost: { operator: "gt", value: 1, connector: "AND" },
    };
    const either: Filter = { type: "any", filters: [is("model", "equal", "a"), is("status", "equal", "failed")] };
    expect(read(filters)).toEqual({ type: "all", filters: [either, is("cost", "gt", 1)] });
    const list = {
      cost: [
        { operator: "lt", value: 1 },
        { operator: "gt", value: 9, connector: "or" },
      ],
    };
    expect(read(list)).toEqual({ type: "any", filters: [is("cost", "lt", 1), is("cost", "gt", 9)] });
  });

  test("a bundle joins its parts, also inside another", () => {
    const either: Filter = { type: "any", filters: [is("model", "equal", "a"), is("model", "equal", "b")] };
    expect(read({ connector: "OR", filter_params: [{ model: "a" }, { model: "b" }] })).toEqual(either);
    expect(
      read({
        cost: { operator: "gt", value: 1 },
        group: { connector: "OR", filter_params: [{ model: "a" }, { model: "b" }] },
      }),
    ).toEqual({ type: "all", filters: [is("cost", "gt", 1), either] });
    expect(read({ connector: "OR", filter_params: { model: "a", status: "failed" } })).toEqual({
      type: "any",
      filters: [is("model", "equal", "a"), is("status", "equal", "failed")],
    });
  });

  test("a condition policy is the same tree", () => {
    const rules = [
      { field: "status_code", operator: "greater_than_or_equal", value: 400 },
      { field: "metadata.plan", operator: "not_in", value: ["free", "trial"] },
    ];
    const parts = [is("status_code", "gte", 400), not(is("metadata__plan", "equal", "free", "trial"))];
    expect(parsePolicy({ rules, connector: "AND" }, catalogue).filter).toEqual({ type: "all", filters: parts });
    expect(parsePolicy({ rules, connector: "OR" }, catalogue).filter).toEqual({ type: "any", filters: parts });
    for (const policy of [undefined, {}, { rules: [1] }, { rules: [{ operator: "in" }] }]) {
      expect(() => parsePolicy(policy, catalogue)).toThrow(ServiceError);
    }
  });
});

describe("operators", () => {
  test.each<[Operator, string]>([
    ["equal", " = == eq equals is in IN"],
    ["iexact", "iexact"],
    ["contains", "contains"],
    ["icontains", "icontains ilike"],
    ["startswith", "startswith"],
    ["endswith", "endswith"],
    ["lt", "lt < less_than"],
    ["lte", "lte <= less_than_or_equal"],
    ["gt", "gt > greater_than"],
    ["gte", "gte >= greater_than_or_equal"],
  ])("%s has several spellings", (operator, spellings) => {
    for (const spelling of spellings.split(" ")) {
      expect(read({ model: { operator: spelling, value: ["x"] } })).toEqual(is("model", operator, "x"));
    }
  });

  test.each<[Operator, string]>([
    ["equal", "not not_in nin != ne not_equals NOT_IN"],
    ["contains", "not_contains"],
    ["icontains", "not_icontains"],
    ["startswith", "not_startswith"],
    ["endswith", "not_endswith"],
  ])("the opposite of %s has several spellings", (operator, spellings) => {
    for (const spelling of spellings.split(" ")) {
      expect(read({ model: { operator: spelling, value: ["x", "y"] } })).toEqual(not(is("model", operator, "x", "y")));
    }
  });

  test("absence has several spellings", () => {
    for (const value of [true, [true], "true", ["True"], 1, ["1"]]) {
      expect(read({ model: { operator: "isnull", value } })).toEqual(is("model", "isnull", true));
    }
    for (const value of [false, ["false"], [0]]) {
      expect(read({ model: { operator: "isnull", value } })).toEqual(is("model", "isnull", false));
    }
    expect(read({ model: { operator: "empty" } })).toEqual(is("model", "isnull", true));
    for (const operator of ["not_empty", "notEmpty"]) {
      expect(read({ model: { operator, value: [] } })).toEqual(not(is("model", "isnull", true)));
    }
  });
});

describe("values", () => {
  test.each([
    ["number from text", { cost: { operator: "gt", value: ["0.5"] } }, is("cost", "gt", 0.5)],
    ["boolean from text", { stream: ["True"] }, is("stream", "equal", true)],
    ["boolean from a bit", { cache_bit: 1 }, is("cache_hit", "equal", true)],
    ["text from a number", { customer_identifier: 42 }, is("customer_identifier", "equal", "42")],
    [
      "text from a long number",
      { metadata__id: rawJson("12345678901234567890") },
      is("metadata__id", "equal", "12345678901234567890"),
    ],
    ["text from a boolean", { metadata__ok: true }, is("metadata__ok", "equal", "true")],
    [
      "time with an offset",
      { timestamp: { operator: "gt", value: "2025-01-01T01:00:00.5+01:00" } },
      is("timestamp", "gt", "2025-01-01 00:00:00.500000000"),
    ],
    [
      "time from an epoch number",
      { timestamp: { operator: "lt", value: 1_735_689_600 } },
      is("timestamp", "lt", "2025-01-01 00:00:00.000000000"),
    ],
    ["poison characters as storage keeps them", { model: "a\0\uD800" }, is("model", "equal", "a\uFFFD\uFFFD")],
  ])("reads a %s", (_name, filters, expected) => {
    expect(read(filters)).toEqual(expected);
  });
});

describe("refused filters", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["unknown field", { colour: "red" }, "colour"],
    ["unknown operator", { cost: { operator: "between", value: [1] } }, "between"],
    ["regex", { model: { operator: "regex", value: ["a+"] } }, "regex"],
    ["operator that is no text", { model: { operator: 7, value: ["a"] } }, "model"],
    ["operator for another type", { cost: { operator: "contains", value: ["1"] } }, "contains"],
    ["ordering of booleans", { stream: { operator: "gt", value: [true] } }, "stream"],
    ["text for a number", { cost: { operator: "gt", value: ["abc"] } }, "cost"],
    ["boolean for a number", { cost: true }, "cost"],
    ["number for a boolean", { stream: 2 }, "stream"],
    ["junk for a time", { timestamp: { operator: "gt", value: ["yesterday"] } }, "timestamp"],
    ["object as a value", { model: { value: [{}] } }, "model"],
    ["null as a value", { model: { value: [null] } }, "isnull"],
    ["no value", { model: {} }, "model"],
    ["empty list", { model: { operator: "in", value: [] } }, "model"],
    ["two limits", { cost: { operator: "gt", value: [1, 2] } }, "cost"],
    ["isnull without a verdict", { model: { operator: "isnull", value: [] } }, "model"],
    ["unknown connector", { model: { value: "a", connector: "XOR" } }, "model"],
    ["a misspelt operator", { model: { op: "not", value: ["a"] } }, "op"],
    ["a misspelt connector", { model: { operator: "not", value: ["a"], conector: "OR" } }, "conector"],
    ["what is misspelt in one of a list", { cost: [{ value: [1] }, { operator: "lt", values: [2] }] }, "values"],
    ["conditions mixed with values", { model: ["a", { value: "b" }] }, "model"],
    ["reserved metadata", { metadata___secret: "x" }, "metadata___secret"],
    ["reserved metadata of a policy's form", { "metadata._secret": "x" }, "metadata._secret"],
    ["metadata without a key", { metadata__: "x" }, "metadata__"],
    ["prototype names", JSON.parse('{"__proto__": "x"}'), "__proto__"],
    ["constructor", { constructor: "x" }, "constructor"],
    ["operators of the prototype", { model: { operator: "constructor", value: ["x"] } }, "constructor"],
  ])("%s, naming it", (_name, filters, named) => {
    const error = rejectionOf(filters);
    expect(error.code).toBe("invalid_request");
    expect(error.message).toContain(named);
    expect(Object.keys(error.errors ?? {})).toEqual(Object.keys(filters));
  });

  test("filters of another shape", () => {
    for (const filters of [[], "model", 1, { filter_params: 1 }, { filter_params: [1] }]) {
      expect(rejectionOf(filters).code).toBe("invalid_request");
    }
  });

  test("filters over the bounds", () => {
    const condition = { operator: "gt", value: [1] };
    const bundle = (depth: number): unknown => (depth === 0 ? { cost: 1 } : { filter_params: bundle(depth - 1) });
    const many = { cost: Array.from({ length: filterLimits.filterConditions }, () => condition) };
    expect(() => read(many)).not.toThrow();
    expect(rejectionOf({ ...many, model: "a" }).message).toContain("conditions");
    expect(rejectionOf({ cost: Array.from({ length: filterLimits.filterValues + 1 }, () => 1) }).message).toContain(
      "values",
    );
    expect(rejectionOf({ model: "x".repeat(filterLimits.filterValueChars + 1) }).message).toContain("characters");
    const long = Array.from({ length: filterLimits.filterChars / 8_000 + 1 }, () => "x".repeat(8_000));
    expect(rejectionOf({ model: long }).message).toContain("together");
    expect(() => read(bundle(filterLimits.filterDepth))).not.toThrow();
    expect(rejectionOf(bundle(filterLimits.filterDepth + 1)).message).toContain("deep");
    expect(rejectionOf({ ["f".repeat(10_000)]: 1 }).message.length).toBeLessThan(200);
  });
});

describe("lenient reading", () => {
  test("leaves out unknown fields and operators and reports them", () => {
    const filters = { colour: "red", model: { operator: "between", value: [1] }, environment: "test" };
    const { filter, conditions, ignored } = parseFilters(filters, catalogue, "lenient");
    expect(filter).toEqual(is("environment", "equal", "test"));
    expect(conditions).toBe(1);
    expect(ignored.map(({ field }) => field)).toEqual(["colour", "model"]);
  });

  test("reports when nothing is left", () => {
    expect(parseFilters({ colour: "red" }, catalogue, "lenient").conditions).toBe(0);
  });

  test("still refuses a wrong value of a known field", () => {
    expect(() => parseFilters({ cost: "abc" }, catalogue, "lenient")).toThrow(ServiceError);
  });
});

test("conditions may name a field twice", () => {
  const { filter } = parseConditions(
    [
      ["model", "a"],
      ["model", { operator: "not", value: "b" }],
    ],
    catalogue,
  );
  expect(filter).toEqual({ type: "all", filters: [is("model", "equal", "a"), not(is("model", "equal", "b"))] });
});

test("junk is refused or read, and never crashes the parser", () => {
  const readOrRefuse = (filters: unknown) => {
    try {
      parseFilters(filters, catalogue, "lenient");
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  };
  const name = fc.oneof(fc.string(), fc.constantFrom("model", "cost", "filter_params", "metadata__a"));
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), (filters) => {
      expect(() => readOrRefuse(filters)).not.toThrow();
    }),
  );
});
