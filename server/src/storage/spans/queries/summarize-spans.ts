import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSelection, SpanSummary } from "../span-store.ts";
import { figuresOf, selectFigures } from "./figures.ts";
import { readOnce, type Once } from "./once.ts";
import { climbFor, type RollUp } from "./roll-up.ts";
import { selectionWhere, spansOf, withoutFilter } from "./selection.ts";
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
  const where = selectionWhere(selection);
  const all = withoutFilter(selection);
  const read = async (once: Once, usage: RollUp) =>
    await database.query(
      {
        name: "summarize",
        sql: `${usage.with} SELECT ${select.join(", ")} FROM ${usage.of(spansOf([where], once))}`,
        params: where.params,
      },
      signal,
    );
  const { rows } = await readOnce(database, { all: [all], summed: [all], rollUp: climbFor(selection) }, read, signal);
  return figuresOf(rows[0] ?? {}, Object.keys(figures) as (keyof SpanSummary)[]);
}
