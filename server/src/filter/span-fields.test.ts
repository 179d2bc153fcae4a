import { describe, expect, test } from "vitest";
import { spanColumns, type SpanRow } from "../domain/span.ts";
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
  test("has every column except internal ones and requests as they were sent", () => {
    const own = ["organization_id", "version", "is_deleted", "is_resend", "received_at", "extra", "cost_details"];
    const unfiltered = ["metadata_index", "metadata_reserved", "full_request", "full_response"];
    const catalogue = createSpanCatalogue();
    const missing = Object.keys(spanColumns).filter((name) => catalogue.find(name) === undefined);
    expect(missing.toSorted()).toEqual([...own, ...unfiltered].toSorted());
  });

  test("reads the store of scores if there is one", () => {
    const source = (value: string): Source<SpanRow> => ({ sql: () => `'${value}'`, read: () => value, form: "plain" });
    const catalogue = createSpanCatalogue({
      score: (name) => source(name === "judge" ? "0.5" : "1"),
      evaluatorId: source("e1"),
    });
    const matches = (filters: unknown) => compileMatcher(parseFilters(filters, catalogue).filter, catalogue)(span);
    expect(matches({ scores__judge: { operator: "lt", value: 0.6 }, evaluator_id: "e1" })).toBe(true);
    expect(matches({ scores__other: { operator: "lt", value: 0.6 } })).toBe(false);
  });

  test("reads metadata itself if a row has no index yet", () => {
    const catalogue = createSpanCatalogue();
    const matches = compileMatcher(parseFilters({ metadata__a__b: 1 }, catalogue).filter, catalogue);
    expect(matches({ ...span, metadata: { a: { b: 1 } } })).toBe(true);
    expect(matches({ ...span, metadata: { a: { b: 2 } } })).toBe(false);
    expect(matches(span)).toBe(false);
  });
});
