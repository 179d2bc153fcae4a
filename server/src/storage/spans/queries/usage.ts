import { llmLogTypes } from "../../../domain/span.ts";

/**
 * What one row used, in one place: sums, groups, traces and threads are built from these expressions alone. A span that
 * restates what spans below it used counts for nothing; `is_restated` is what `roll-up.ts` says of it.
 */
export const rowUsage = {
  cost: "if(is_restated, NULL, cost)",
  totalTokens: "if(is_restated, NULL, total_tokens)",
  promptTokens: "if(is_restated, NULL, prompt_tokens)",
  completionTokens: "if(is_restated, NULL, completion_tokens)",
} as const;

/** Zeros, which some exporters send with every span, are no usage. */
export const hasUsage = "(ifNull(total_tokens > 0, 0) OR ifNull(cost > 0, 0))";

export const isModelCall = `log_type IN (${llmLogTypes.map((type) => `'${type}'`).join(", ")})`;
export const isError = "(status = 'failed' OR ifNull(status_code >= 400, 0))";
export const isUnpriced = `(${isModelCall} AND isNull(cost) AND NOT is_restated)`;

/** 0 where no row has a value. A sum of dollars is cut where the error of adding doubles begins. */
export const sumOf = (expression: string) => `ifNull(sum(${expression}), 0)`;
export const sumOfCost = `round(${sumOf(rowUsage.cost)}, 12)`;
export const averageOf = (expression: string) => `ifNull(avg(${expression}), 0)`;
export const averageCost = `round(${averageOf(rowUsage.cost)}, 12)`;
