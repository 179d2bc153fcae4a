import { durationMs, type Alert, type AlertMeasurement } from "../domain/alert.ts";
import type { Measured } from "../domain/alert-state.ts";
import { ServiceError } from "../domain/errors.ts";
import { alertsLimits } from "./limits.ts";
import {
  countMetrics,
  type SeriesPoint,
  type SpanMetric,
  type SpanSeries,
  type SpanSeriesResult,
} from "../storage/spans/span-series.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { scoreMetricPrefix, type ReadDefinition } from "./read-definition.ts";

export type ReadableRule = { alert: Alert; definition: ReadDefinition };

type SeriesReads = Pick<SpanStore, "spanSeries" | "splitSeries">;
type EndOfWindow = { endMs: number; signal: AbortSignal };

/**
 * Measures rules that differ only in their metrics and filters with as few queries as possible. The result is undefined
 * for a rule that must be measured alone: if a shared query is too large, or the rule has more groups than are watched.
 */
export async function measureTogether(
  spans: SeriesReads,
  rules: readonly ReadableRule[],
  window: EndOfWindow,
): Promise<Array<Measured | undefined>> {
  const byFilter = Map.groupBy(rules, ({ alert }) => JSON.stringify(alert.filters));
  const measured = new Map<ReadableRule, Measured>();
  const together = [...byFilter.values()].filter((same) => same.every(({ definition }) => definition.metric));
  const isSplit = together.length > 1 && (await unlessTooLarge(() => measureSplit(spans, together, window, measured)));
  for (const same of byFilter.values()) {
    if (same.length < 2 || (isSplit && together.includes(same))) continue;
    const found = await unlessTooLarge(() => measure(spans, same, window));
    // If there are too many groups, each rule watches the largest ones by its own metric, so one shared query cannot serve all rules.
    if (found?.every(({ isComplete }) => isComplete) !== true) continue;
    for (const [index, rule] of same.entries()) if (found[index]) measured.set(rule, found[index]);
  }
  return rules.map((rule) => measured.get(rule));
}

async function unlessTooLarge<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && error.code === "query_too_large") return undefined;
    throw error;
  }
}

/** Measures rules by filter in one query. Returns whether the store could answer for all filters in one query. */
async function measureSplit(
  spans: SeriesReads,
  byFilter: ReadonlyArray<readonly ReadableRule[]>,
  { endMs, signal }: EndOfWindow,
  measured: Map<ReadableRule, Measured>,
): Promise<boolean> {
  const alert = byFilter[0]?.[0]?.alert;
  if (alert === undefined) return false;
  const query = { ...windowsOf(alert, endMs), metrics: metricsOf(byFilter.flat()), groupBy: alert.group_by };
  const filters = byFilter.map(([rule]) => rule?.definition.filter);
  const found = await spans.splitSeries({ ...query, filters, top: alertsLimits.alertGroupsTogether }, signal);
  if (found === undefined) return false;
  for (const [index, same] of byFilter.entries()) {
    const series = found[index] ?? [];
    if (series.length > alertsLimits.alertGroups) continue;
    for (const rule of same) measured.set(rule, readMeasured(rule, { series, other: undefined }, endMs));
  }
  return true;
}

/**
 * Measures the spans of a window, and those of the window before it if a rule compares the two. The rules read the same
 * spans, each with its own metric.
 */
export async function measure(
  spans: SeriesReads,
  rules: readonly ReadableRule[],
  { endMs, signal }: EndOfWindow,
): Promise<Measured[]> {
  const [first] = rules;
  if (first === undefined) return [];
  const { alert, definition } = first;
  const isUpward = alert.operator === "gt" || alert.operator === "gte";
  const evaluators = rules.flatMap((rule) => rule.definition.evaluator ?? []);
  const found = await spans.spanSeries(
    {
      ...windowsOf(alert, endMs),
      filter: definition.filter,
      groupBy: alert.group_by,
      metrics: metricsOf(rules),
      scores: [...new Set(evaluators)],
      top: alertsLimits.alertGroups,
      rankBy: definition.metric !== undefined && isUpward ? definition.metric : "number_of_requests",
      isInBackground: true,
    },
    signal,
  );
  return rules.map((rule) => readMeasured(rule, found, endMs));
}

function metricsOf(rules: readonly ReadableRule[]): SpanMetric[] {
  return [
    ...new Set<SpanMetric>([...rules.flatMap(({ definition }) => definition.metric ?? []), "number_of_requests"]),
  ];
}

/** The window that ends at `endMs`, after the previous one if a rule compares the two. */
function windowsOf(alert: Alert, endMs: number) {
  const windowMs = durationMs(alert.window) ?? 0;
  const startMs = endMs - windowMs;
  const starts = alert.change_percentage === null ? [startMs] : [startMs - windowMs, startMs];
  return {
    scope: { organization_id: alert.unique_organization_id, environment: alert.environment },
    window: { fromNs: ns(starts[0] ?? startMs), toNs: ns(endMs) - 1n },
    starts: starts.map((ms) => ms / 1_000),
  };
}

function readMeasured(
  { alert, definition: { metric, evaluator } }: ReadableRule,
  found: SpanSeriesResult,
  endMs: number,
): Measured {
  const name = metric ?? `${scoreMetricPrefix}${evaluator}`;
  const emptyValue = metric !== undefined && countMetrics.has(metric) ? 0 : null;
  const valueOf = (point: SeriesPoint | undefined): number | null => point?.[name] ?? emptyValue;
  const isCompared = alert.change_percentage !== null;
  const read = ({ group, points }: SpanSeries): AlertMeasurement => {
    const [now, before] = isCompared ? [points.get(1), points.get(0)] : [points.get(0), undefined];
    return {
      group,
      value: valueOf(now),
      number_of_requests: now?.["number_of_requests"] ?? 0,
      previous_value: isCompared ? valueOf(before) : null,
      previous_number_of_requests: before?.["number_of_requests"] ?? 0,
    };
  };
  return {
    measurements: found.series.map(read),
    isComplete: found.other === undefined,
    emptyValue,
    windowEnd: new Date(endMs).toISOString(),
  };
}

function ns(ms: number): bigint {
  return BigInt(ms) * 1_000_000n;
}
