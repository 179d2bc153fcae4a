import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import { percentileMetrics } from "../span-series.ts";
import type { SpanSelection, SpanSummary } from "../span-store.ts";
import { figuresOf, selectFigures } from "./figures.ts";
import { countedCustomers, countedSpans, paramsOfParts, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { metricsOf, selectMetrics } from "./span-metrics.ts";
import { findSums, isLargeWindow } from "./stored-sums.ts";
import { figuresOfSums, metricsOfSums } from "./sum-columns.ts";
import { averageOf, isError, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

const figures = {
  number_of_requests: "count()",
  total_cost: sumOfCost,
  total_tokens: sumOf(rowUsage.totalTokens),
  total_prompt_tokens: sumOf(rowUsage.promptTokens),
  total_completion_tokens: sumOf(rowUsage.completionTokens),
  avg_latency: averageOf("latency"),
  avg_tps: averageOf("tokens_per_second"),
  avg_ttft: averageOf("time_to_first_token"),
  error_count: `countIf(${isError})`,
  unpriced_count: `countIf(${isUnpriced})`,
  cache_hit_count: "countIf(ifNull(cache_hit, 0))",
};
const sums = Object.keys(figures) as (keyof typeof figures)[];
const select = [...selectFigures(figures), ...selectMetrics(percentileMetrics)];
const customers = ["number_of_customers"] as const;
const selectCustomers = selectMetrics(customers);
const selectFromSums = [...figuresOfSums([...sums, ...customers]), ...metricsOfSums(percentileMetrics)];

export async function summarizeSpans(
  database: SpanDatabase,
  selection: SpanSelection,
  signal?: AbortSignal,
): Promise<SpanSummary> {
  const stored = await findSums(database, selection, signal);
  if (stored !== undefined) {
    const row = await stored.read(async (rows, params) => {
      const sql = `SELECT ${selectFromSums.join(", ")} FROM ${rows}`;
      return (await database.query({ name: "summarize", sql, params }, signal)).rows[0] ?? {};
    }, signal);
    return { ...figuresOf(row, [...sums, ...customers]), ...metricsOf(row, percentileMetrics) };
  }
  const isLarge = selection.filter !== undefined && (await isLargeWindow(database, selection, signal));
  const part = { ...partOf(selection), isLarge };
  const parts = [part];
  const read = async (counts: Counts, selected: readonly string[], from: (once: Once, known: Counts) => string) => {
    const statement = async (once: Once, known: Counts) =>
      await database.query(
        {
          name: "summarize",
          sql: `SELECT ${selected.join(", ")} FROM ${from(once, known)}`,
          params: paramsOfParts(parts),
        },
        signal,
      );
    const { rows } = await readOnce(database, { parts, counts }, statement, signal);
    return rows[0] ?? {};
  };
  const spans = (once: Once, known: Counts) => countedSpans(parts, once, known);
  if (selection.filter !== undefined) {
    const row = await read("all", [...select, ...selectCustomers], spans);
    return summaryOf(row, row);
  }
  // More spans differ in whom they count for than in what they count for: sums need not wait for the former.
  const [row, identities] = await Promise.all([
    read("usage", select, spans),
    read("all", selectCustomers, (once, known) => countedCustomers(part, once, known)),
  ]);
  return summaryOf(row, identities);
}

const summaryOf = (row: ResultRow, identities: ResultRow): SpanSummary => ({
  ...figuresOf(row, sums),
  ...metricsOf(row, percentileMetrics),
  ...figuresOf(identities, customers),
});
