import { expect, test } from "vitest";
import type { SpanRow } from "../../domain/span.ts";
import { domainLimits } from "../../domain/limits.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import { normalizeSpan } from "../normalize/normalize.ts";
import { bodyOfRow } from "./joined-span.ts";

const prices = createPriceBook({ maxModels: 100 });
const origin = {
  organization_id: "o",
  environment: "prod" as const,
  organization_key_id: "k",
  organization_key_name: "k",
  log_method: "tracing_integration",
};

function rowOf(body: Record<string, unknown>): SpanRow {
  const nested = createNestedJson(domainLimits.bodyNodes);
  const result = normalizeSpan(body, origin, { receivedNs: 1_700_000_000_000_000_000n, prices, nested });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.span.row;
}

/** The row as the store returns it: documents are text. */
const asStored = (row: SpanRow): StoredSpan =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "object" && value !== null ? JSON.stringify(value) : value,
    ]),
  ) as unknown as StoredSpan;

test.each([
  [{ image_completion_tokens: 1290 }, "google", "gemini-2.5-flash-image"],
  [{ audio_prompt_tokens: 500, audio_completion_tokens: 350 }, "openai", "gpt-4o-audio-preview"],
  [{ cache_creation_1h_tokens: 200 }, "anthropic", "claude-sonnet-4-5"],
  [{ service_tier: "flex" }, "openai", "gpt-5"],
])("a span completed by log records keeps its cost: %o", (usage_details, provider_id, model) => {
  const counts = { prompt_tokens: 600, completion_tokens: 1300, prompt_cache_creation_tokens: 200 };
  const row = rowOf({ model, provider_id, ...counts, usage_details, trace_unique_id: "t", span_unique_id: "s" });
  const again = rowOf(bodyOfRow(asStored(row)));
  expect(again.cost_details).toBe(row.cost_details);
  expect(again.cost).toBe(row.cost);
  expect(again.extra).toEqual(row.extra);
});
