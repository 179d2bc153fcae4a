import { llmLogTypes } from "../../../domain/span.ts";

/**
 * What one row used, in one place: sums and groups are built from these expressions alone, so that a rule for wrappers
 * that restate their children has one place to stand.
 */
export const rowUsage = {
  cost: "cost",
  totalTokens: "total_tokens",
  promptTokens: "prompt_tokens",
  completionTokens: "completion_tokens",
} as const;

const isModelCall = `log_type IN (${llmLogTypes.map((type) => `'${type}'`).join(", ")})`;
export const isError = "(status = 'failed' OR ifNull(status_code >= 400, 0))";
export const isUnpriced = `(${isModelCall} AND isNull(${rowUsage.cost}))`;

/** 0 where no row has a value. A sum of dollars is cut where the error of adding doubles begins. */
export const sumOf = (expression: string) => `ifNull(sum(${expression}), 0)`;
export const sumOfCost = `round(${sumOf(rowUsage.cost)}, 12)`;
export const averageOf = (expression: string) => `ifNull(avg(${expression}), 0)`;
export const averageCost = `round(${averageOf(rowUsage.cost)}, 12)`;
