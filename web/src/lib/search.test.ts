import fc from "fast-check";
import { expect, test } from "vitest";
import { choiceOf, listOf, parseSearch, stringifySearch, textOf } from "./search.ts";

test("any text survives a round trip through the URL", () => {
  const value = fc.oneof(
    fc.string({ minLength: 1, unit: "grapheme" }),
    fc.array(fc.string({ minLength: 1 }), { minLength: 2 }),
  );
  const name = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");
  fc.assert(
    fc.property(fc.dictionary(name, value), (search) => {
      expect(parseSearch(stringifySearch(search))).toEqual({ ...search });
    }),
  );
});

test("a query stays readable, and empty parameters are omitted", () => {
  expect(stringifySearch({ q: "model:gpt-4o", page: 2, span: undefined, tab: "" })).toBe("?q=model:gpt-4o&page=2");
  expect(stringifySearch({})).toBe("");
});

test("a parameter of the wrong type is ignored", () => {
  const search = parseSearch("?tab=cost&tab=time&env=moon&q=x");
  expect(textOf(search, "tab")).toBeUndefined();
  expect(textOf(search, "q")).toBe("x");
  expect(listOf(search, "tab")).toEqual(["cost", "time"]);
  expect(choiceOf(search, "env", ["test"])).toBeUndefined();
});
