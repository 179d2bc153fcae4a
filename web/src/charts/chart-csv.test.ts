import { expect, test } from "vitest";
import { chartCsv } from "./chart-csv.ts";

test("a CSV distinguishes unknown from 0, and no name becomes a formula", () => {
  const series = (label: string, values: (number | null)[]) => ({
    key: label,
    label,
    color: "--chart-1",
    values,
    total: null,
    group: undefined,
  });
  const csv = chartCsv({
    starts: [Date.UTC(2026, 10, 29, 9), Date.UTC(2026, 10, 29, 10)],
    series: [series('acme, "Inc"', [0, null]), series("=1+1", [0.1, 1e-7])],
  });
  expect(csv).toBe(
    `start,"acme, ""Inc""",'=1+1\r\n2026-11-29T09:00:00.000Z,0,0.1\r\n2026-11-29T10:00:00.000Z,,0.0000001\r\n`,
  );
});
