import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSelection, SpanSummary } from "../span-store.ts";
import { figuresOf, selectFigures } from "./figures.ts";
import { countedSpans, paramsOfParts, readsIdentity, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { averageOf, isError, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

const figures: Record<keyof SpanSummary, string> = {
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
const select = selectFigures(figures);

export async function summarizeSpans(
  database: SpanDatabase,
  selection: SpanSelection,
  signal?: AbortSignal,
): Promise<SpanSummary> {
  const parts = [partOf(selection)];
  const read = async (once: Once, counts: Counts) =>
    await database.query(
      {
        name: "summarize",
        sql: `SELECT ${select.join(", ")} FROM ${countedSpans(parts, once, counts)}`,
        params: paramsOfParts(parts),
      },
      signal,
    );
  const counts = readsIdentity(selection.filter) ? "all" : "usage";
  const { rows } = await readOnce(database, { parts, counts }, read, signal);
  return figuresOf(rows[0] ?? {}, Object.keys(figures) as (keyof SpanSummary)[]);
}
