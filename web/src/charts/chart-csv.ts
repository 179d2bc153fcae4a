import { plainDecimal } from "../lib/format.ts";
import type { ChartData } from "./chart-data.ts";

/**
 * A chart's data as CSV (RFC 4180): a row for each bucket, with its start in UTC, and a column for each series. Unknown
 * is an empty cell, and no spreadsheet reads a name as a formula.
 */
export function chartCsv({ starts, series }: Pick<ChartData, "starts" | "series">): string {
  const header = ["start", ...series.map(({ label }) => label)].map(cell);
  const rows = starts.map((start, at) => [
    new Date(start).toISOString(),
    ...series.map(({ values }) => plainDecimal(values[at])),
  ]);
  return [header, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

function cell(text: string): string {
  const harmless = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
