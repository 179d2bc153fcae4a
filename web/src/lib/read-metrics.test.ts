import { expect, test } from "vitest";
import { readMetrics } from "./read-metrics.ts";

test("values are read by name and summed over labels; lines that are not numbers are ignored", () => {
  const text = [
    "# HELP spans_total Spans {with} words 1",
    "# TYPE spans_total counter",
    'spans_total{log_method="otel \\"x\\" 5"} 3',
    'spans_total{log_method="api"} 4',
    "held_bytes 1.5e+06",
    "age_seconds NaN",
    "",
  ].join("\n");
  expect([...readMetrics(text)]).toEqual([
    ["spans_total", 7],
    ["held_bytes", 1_500_000],
  ]);
});
