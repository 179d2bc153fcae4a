import { llmLogTypes } from "../../../domain/span.ts";

/**
 * What one row of `countedSpans` used, in one place: sums, groups, traces and threads are built from these expressions
 * alone.
 */
export const rowUsage = {
  cost: "counted_cost",
  totalTokens: "if(counts_tokens = 1, total_tokens, NULL)",
  promptTokens: "if(counts_tokens = 1, prompt_tokens, NULL)",
  completionTokens: "if(counts_tokens = 1, completion_tokens, NULL)",
} as const;

export const isModelCall = `log_type IN (${llmLogTypes.map((type) => `'${type}'`).join(", ")})`;
export const isError = "(status = 'failed' OR ifNull(status_code >= 400, 0))";
export const isUnpriced = `(${isModelCall} AND isNull(counted_cost))`;

/** The same where something was counted that costs money: calls that failed without an answer are not among them. */
export const isUsedUnpriced = `(${isUnpriced} AND counts_tokens = 1 AND (ifNull(total_tokens > 0, 0) OR unpriced != ''))`;

/** 0 where no row has a value. A sum of dollars is cut where the error of adding doubles begins. */
export const sumOf = (expression: string) => `ifNull(sum(${expression}), 0)`;
export const sumOfCost = `round(${sumOf(rowUsage.cost)}, 12)`;
export const averageOf = (expression: string) => `ifNull(avg(${expression}), 0)`;
export const averageCost = `round(${averageOf(rowUsage.cost)}, 12)`;
