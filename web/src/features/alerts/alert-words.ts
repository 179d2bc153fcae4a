import { changeOf } from "../../charts/change.ts";
import { formatCost, formatCount, formatDuration, formatExactCost, formatPercent } from "../../lib/format.ts";
import type { Tone } from "../../ui/badge.tsx";
import type { Alert } from "./queries.ts";

type MetricKind = "count" | "cost" | "duration" | "percent" | "number";

const named: readonly (readonly [name: string, label: string, kind: MetricKind])[] = [
  ["number_of_requests", "Requests", "count"],
  ["error_count", "Errors", "count"],
  ["error_percentage", "Error rate", "percent"],
  ["total_cost", "Cost", "cost"],
  ["average_cost", "Average cost", "cost"],
  ["unpriced_count", "Calls of unknown cost", "count"],
  ["total_tokens", "Tokens", "count"],
  ["total_prompt_tokens", "Prompt tokens", "count"],
  ["total_completion_tokens", "Completion tokens", "count"],
  ["average_tokens", "Average tokens", "number"],
  ["prompt_cache_hit_tokens", "Cached prompt tokens", "count"],
  ["cache_hit_percentage", "Cache hit rate", "percent"],
  ["number_of_customers", "Customers", "count"],
  ["number_of_traces", "Traces", "count"],
];

const spread: readonly (readonly [name: string, label: string, kind: MetricKind])[] = [
  ["latency", "Latency", "duration"],
  ["time_to_first_token", "Time to first token", "duration"],
  ["tokens_per_second", "Tokens per second", "number"],
];

const parts = ["average", "p50", "p90", "p95", "p99"];

const metrics = [
  ...named,
  ...spread.flatMap(([name, label, kind]) =>
    parts.map((part) => [`${part}_${name}`, `${label}, ${part}`, kind] as const),
  ),
];

export const metricOptions = metrics.map(([value, label]) => ({ value, label }));

/** The prefix of an evaluator whose scores are averaged. */
export const scorePrefix = "scores__";

function metricLabel(metric: string): string {
  if (metric.startsWith(scorePrefix)) return `Score of ${metric.slice(scorePrefix.length)}`;
  return metrics.find(([name]) => name === metric)?.[1] ?? metric;
}

const kindOf = (metric: string): MetricKind => metrics.find(([name]) => name === metric)?.[2] ?? "number";

export function metricUnit(metric: string): string | undefined {
  return { count: undefined, number: undefined, cost: "USD", duration: "seconds", percent: "%" }[kindOf(metric)];
}

const formats = {
  count: formatCount,
  number: formatCount,
  cost: formatCost,
  duration: formatDuration,
  percent: formatPercent,
};

export function formatMetric(metric: string, value: number | null): string {
  return formats[kindOf(metric)](value);
}

/** The change from the previous window's value: `+120%`, `-12.5%`, `0%`; undefined if it cannot be computed. */
export function formatChange(value: number | null, before: number | null): string | undefined {
  const change = changeOf(value, before);
  if (change === undefined || change.kind === "new") return undefined;
  return signedPercent(change.kind === "same" ? 0 : change.ratio * 100);
}

function signedPercent(percent: number): string {
  return `${percent > 0 ? "+" : percent < 0 ? "-" : ""}${formatPercent(Math.abs(percent))}`;
}

/** With every digit; for tooltips. */
export function exactMetric(metric: string, value: number): string {
  if (kindOf(metric) === "cost") return formatExactCost(value);
  const unit = metricUnit(metric);
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

export const operatorSigns: Record<Alert["operator"], string> = { gt: ">", gte: "≥", lt: "<", lte: "≤" };

/** `up by 50% or more`; a bound that is neither a rise nor a fall as `change < +50%`. */
function changeWords(operator: Alert["operator"], change: number): string {
  const isRise = operator === "gt" || operator === "gte";
  if (isRise ? change < 0 : change > 0) return `change ${operatorSigns[operator]} ${signedPercent(change)}`;
  const size = formatPercent(Math.abs(change));
  return `${isRise ? "up" : "down"} by ${operator.endsWith("e") ? `${size} or more` : `more than ${size}`}`;
}

/** The trigger condition in one line: `Cost > $10.00 in 1h`, `Cost up by 50% or more in 7d`. */
export function conditionOf(
  alert: Pick<Alert, "metric" | "operator" | "threshold" | "change_percentage" | "window">,
): string {
  const { metric, operator, threshold, change_percentage: change, window } = alert;
  const sign = operatorSigns[operator];
  const label = metricLabel(metric);
  if (change !== null) return `${label} ${changeWords(operator, change)} in ${window}`;
  return `${label} ${sign} ${formatMetric(metric, threshold)} in ${window}`;
}

export const stateStyles: Record<Alert["state"], { label: string; tone: Tone }> = {
  triggered: { label: "triggered", tone: "error" },
  ok: { label: "ok", tone: "ok" },
  no_data: { label: "no data", tone: "neutral" },
};

/** The values of a group; undefined if the alert has no groups. */
export function groupName(group: Readonly<Record<string, unknown>> | null): string | undefined {
  const values = Object.values(group ?? {}).map((value) =>
    value === "" || value === null ? "(none)" : typeof value === "string" ? value : JSON.stringify(value),
  );
  return values.length === 0 ? undefined : values.join(" · ");
}
