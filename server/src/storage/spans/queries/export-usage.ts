import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ExportUsageQuery, WriteBytes, UsagePeriod } from "../span-export.ts";
import { countedSpans, paramsOfParts, type Counts } from "./counted-spans.ts";
import { exportRows, type ExportColumn, type ExportColumns } from "./export-columns.ts";
import { streamOnce, type Once } from "./once.ts";
import { partOf } from "./selection.ts";
import { isError, isUnpriced, rowUsage, sumOf, sumOfCost } from "./usage.ts";

/** By the end of a span, in UTC; weeks begin on Monday. */
const periodStarts: Record<UsagePeriod, string> = {
  day: "toDate32(timestamp)",
  week: "toDate32(timestamp) - toIntervalDay(toDayOfWeek(timestamp) - 1)",
  month: "toDate32(timestamp) - toIntervalDay(toDayOfMonth(timestamp) - 1)",
};

const text = (sql: string): ExportColumn => ({ kind: "text", sql });
const integer = (sql: string): ExportColumn => ({ kind: "integer", sql });
const money = (sql: string): ExportColumn => ({ kind: "money", sql });

/** The columns of a row of usage, in order. Money in USD; unknown costs are skipped and counted in `unpriced_count`. */
export const exportedUsage: ExportColumns = {
  customer_identifier: text("customer"),
  environment: text("environment"),
  period_start: text("toString(period)"),
  model: text("model"),
  number_of_requests: integer("requests"),
  error_count: integer("errors"),
  total_prompt_tokens: integer("prompt_tokens"),
  total_completion_tokens: integer("completion_tokens"),
  total_tokens: integer("tokens"),
  unpriced_count: integer("unpriced"),
  total_cost: money("cost"),
  markup_percentage: { kind: "number", sql: "markup" },
  total_cost_with_markup: money("round(cost * (1 + markup / 100), 12)"),
};

/** Exports in one statement, so the rows add up to the summary of the customers' spans at that moment. */
export async function exportUsage(
  database: SpanDatabase,
  query: ExportUsageQuery,
  take: WriteBytes,
  signal: AbortSignal,
): Promise<void> {
  const part = partOf(query);
  const { markups } = query;
  const names = { customers: markups.map(({ environment, customer_identifier: id }) => `${environment} ${id}`) };
  const percentages = { markups: markups.map(({ markup_percentage: percentage }) => String(percentage)) };
  const markup =
    markups.length === 0
      ? "toFloat64(0)"
      : "toFloat64(transform(concat(environment, ' ', customer), {customers:Array(String)}, {markups:Array(String)}, '0'))";
  const sums = (
    once: Once,
    counts: Counts,
  ) => `SELECT customer_identifier AS customer, toString(environment) AS environment, toString(model) AS model, ${periodStarts[query.period]} AS period,
    count() AS requests, countIf(${isError}) AS errors, ${sumOf(rowUsage.promptTokens)} AS prompt_tokens_sum,
    ${sumOf(rowUsage.completionTokens)} AS completion_tokens_sum, ${sumOf(rowUsage.totalTokens)} AS tokens_sum,
    countIf(${isUnpriced}) AS unpriced_sum, ${sumOfCost} AS cost_sum
    FROM ${countedSpans([part], once, counts)} WHERE customer_identifier != '' GROUP BY customer, environment, model, period`;
  const stream = (once: Once, counts: Counts, writeBytes: WriteBytes): Promise<void> =>
    exportRows(
      database,
      {
        name: "export_usage",
        from: `(SELECT customer, environment, model, period, requests, errors, prompt_tokens_sum AS prompt_tokens, completion_tokens_sum AS completion_tokens,
          tokens_sum AS tokens, unpriced_sum AS unpriced, cost_sum AS cost, ${markup} AS markup FROM (${sums(once, counts)})) AS usage
          ORDER BY cost DESC, customer, environment, period, model`,
        params: { ...paramsOfParts([part]), ...(markups.length > 0 && { ...names, ...percentages }) },
      },
      { format: query.format, columns: exportedUsage, names: query.fields },
      writeBytes,
      signal,
    );
  await streamOnce(database, { parts: [part], counts: "all" }, stream, take, signal);
}
