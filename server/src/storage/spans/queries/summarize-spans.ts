import type { SpanDatabase } from "../drivers/span-database.ts";
import { percentileMetrics } from "../span-series.ts";
import type { SpanSelection, SpanSummary } from "../span-store.ts";
import { figuresOf, selectFigures } from "./figures.ts";
import { countedCustomers, countedSpans, paramsOfParts, readsIdentity, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { metricsOf, selectMetrics } from "./span-metrics.ts";
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

export async function summarizeSpans(
  database: SpanDatabase,
  selection: SpanSelection,
  signal?: AbortSignal,
): Promise<SpanSummary> {
  const part = partOf(selection);
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
  // Whom spans count for differs for more of them than what they count for: sums need not wait for it.
  const [row, identities] = await Promise.all([
    read(readsIdentity(selection.filter) ? "all" : "usage", select, (once, known) => countedSpans(parts, once, known)),
    read("all", selectMetrics(customers), (once, known) => countedCustomers(part, once, known)),
  ]);
  return { ...figuresOf(row, sums), ...metricsOf(row, percentileMetrics), ...figuresOf(identities, customers) };
}
