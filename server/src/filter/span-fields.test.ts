import { describe, expect, test } from "vitest";
import type { SpanRow } from "../domain/span.ts";
import type { Source } from "./catalogue.ts";
import { compileMatcher } from "./match.ts";
import { parseFilters } from "./parse.ts";
import { createSpanCatalogue } from "./span-fields.ts";

const span: SpanRow = {
  organization_id: "org",
  environment: "prod",
  timestamp: "2025-01-01 00:00:00.000000000",
  unique_id: "00000000-0000-4000-8000-000000000001",
  version: "1",
};

describe("the catalogue of spans", () => {
  test("sorts by the fields of the interface", () => {
    const catalogue = createSpanCatalogue();
    const sortable = catalogue.fields.filter((field) => field.sortable).map(({ name }) => name);
    expect(sortable.toSorted()).toEqual([
      "completion_tokens",
      "cost",
      "latency",
      "prompt_tokens",
      "time_to_first_token",
      "timestamp",
      "tokens_per_second",
      "total_tokens",
      "unique_id",
    ]);
    expect(catalogue.find("all_tokens")?.sortable).toBe(true);
    expect(catalogue.find("scores__judge")?.sortable).toBe(true);
  });

  test("asks the store of scores where there is one", () => {
    const source = (value: string): Source<SpanRow> => ({ sql: () => `'${value}'`, read: () => value, form: "plain" });
    const catalogue = createSpanCatalogue({
      score: (name) => source(name === "judge" ? "0.5" : "1"),
      evaluatorId: source("e1"),
    });
    const matches = (filters: unknown) => compileMatcher(parseFilters(filters, catalogue).filter, catalogue)(span);
    expect(matches({ scores__judge: { operator: "lt", value: 0.6 }, evaluator_id: "e1" })).toBe(true);
    expect(matches({ scores__other: { operator: "lt", value: 0.6 } })).toBe(false);
  });

  test("reads metadata itself where a row has no index yet", () => {
    const catalogue = createSpanCatalogue();
    const matches = compileMatcher(parseFilters({ metadata__a__b: 1 }, catalogue).filter, catalogue);
    expect(matches({ ...span, metadata: { a: { b: 1 } } })).toBe(true);
    expect(matches({ ...span, metadata: { a: { b: 2 } } })).toBe(false);
    expect(matches(span)).toBe(false);
  });
});
