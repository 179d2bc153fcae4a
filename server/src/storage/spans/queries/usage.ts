import { llmLogTypes } from "../../../domain/span.ts";

/** The usage of one row of `countedSpans`. Sums, groups, traces and threads are built from these expressions only. */
export const rowUsage = {
  cost: "counted_cost",
  totalTokens: "if(counts_tokens = 1, total_tokens, NULL)",
  promptTokens: "if(counts_tokens = 1, prompt_tokens, NULL)",
  completionTokens: "if(counts_tokens = 1, completion_tokens, NULL)",
} as const;

export const isModelCall = `log_type IN (${llmLogTypes.map((type) => `'${type}'`).join(", ")})`;
export const isError = "(status = 'failed' OR ifNull(status_code >= 400, 0))";
export const isUnpriced = `(${isModelCall} AND isNull(counted_cost))`;

/** The same with usage that costs money: calls that failed without a response have none. */
export const isUsedUnpriced = `(${isUnpriced} AND counts_tokens = 1 AND (ifNull(total_tokens > 0, 0) OR unpriced != ''))`;

/** 0 if no row has a value. Sums of dollars are rounded where the error of adding doubles begins. */
export const sumOf = (expression: string) => `ifNull(sum(${expression}), 0)`;
export const sumOfCost = `round(${sumOf(rowUsage.cost)}, 12)`;
export const averageOf = (expression: string) => `ifNull(avg(${expression}), 0)`;
export const averageCost = `round(${averageOf(rowUsage.cost)}, 12)`;
