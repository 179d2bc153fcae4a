import { expect, test } from "vitest";
import { bucketName, readReceipt } from "./receipt.ts";

const receipt = {
  source: { kind: "price_table", name: "genai-prices@0.1.8 anthropic/claude-sonnet-4-6", date: "2026-09-23" },
  lines: [
    { bucket: "input", tokens: 1200, rate: 3, amount: 0.0036 },
    { bucket: "web_search", units: 2, rate: 0.01, amount: 0.02 },
  ],
  adjustments: [{ kind: "service_tier", value: "flex", factor: 0.5 }],
  assumptions: ["5 minutes are assumed."],
  unpriced: [{ bucket: "output_audio", quantity: 350, reason: "No rate." }],
  table_cost: 0.03,
  previous: [{ cost: null, price_version: "old", repriced_at: "2026-11-01T00:00:00Z" }],
};

test("a receipt with every kind of line", () => {
  expect(readReceipt({ cost: 0.0236, cost_details: receipt })).toEqual({
    cost: 0.0236,
    source: "Price table: genai-prices@0.1.8 anthropic/claude-sonnet-4-6",
    sourceDate: "2026-09-23",
    lines: [
      { bucket: "input", quantity: 1200, unit: "tokens", rate: 3, amount: 0.0036 },
      { bucket: "web_search", quantity: 2, unit: "units", rate: 0.01, amount: 0.02 },
    ],
    sum: 0.0236,
    adjustments: receipt.adjustments,
    assumptions: receipt.assumptions,
    unpriced: receipt.unpriced,
    tableCost: 0.03,
    previous: [{ cost: undefined, version: "old", at: "2026-11-01T00:00:00Z" }],
  });
});

test("without lines the sum is unknown, and so is a cost that is null", () => {
  const none = { source: { kind: "none", name: null, date: null }, lines: [] };
  expect(readReceipt({ cost: null, cost_details: none })).toMatchObject({
    cost: undefined,
    sum: undefined,
    source: "No price",
  });
});

test.each([[{}], [{ cost_details: null }], [{ cost_details: "x" }]])("no receipt: %j", (span) => {
  expect(readReceipt(span)).toBeUndefined();
});

test("bucket names as words", () => {
  expect(bucketName("cache_write_5m")).toBe("Cache write 5m");
});
