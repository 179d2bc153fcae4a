import { plainDecimal } from "../lib/format.ts";
import type { ChartData } from "./chart-data.ts";

/**
 * What a chart shows as a table: a row for each bucket, with its start in UTC, and a column for each series. RFC 4180; unknown is an empty
 * cell, and no name is a formula to a spreadsheet.
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
