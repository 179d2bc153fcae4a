import { durationMs, type Alert, type AlertMeasurement } from "../domain/alert.ts";
import type { Measured } from "../domain/alert-state.ts";
import { limits } from "../limits.ts";
import { countMetrics, type SeriesPoint, type SpanMetric, type SpanSeries } from "../storage/spans/span-series.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { scoreMetricPrefix, type ReadDefinition } from "./read-definition.ts";

/** What the spans of a window say, and those of the window before it where the rule compares the two. */
export async function measure(
  spans: Pick<SpanStore, "spanSeries">,
  alert: Alert,
  { filter, metric, evaluator }: ReadDefinition,
  { endMs, signal }: { endMs: number; signal: AbortSignal },
): Promise<Measured> {
  const windowMs = durationMs(alert.window) ?? 0;
  const startMs = endMs - windowMs;
  const starts = alert.change_percentage === null ? [startMs] : [startMs - windowMs, startMs];
  const isUpward = alert.operator === "gt" || alert.operator === "gte";
  const found = await spans.spanSeries(
    {
      scope: { organization_id: alert.unique_organization_id, environment: alert.environment },
      window: { fromNs: ns(starts[0] ?? startMs), toNs: ns(endMs) - 1n },
      filter,
      starts: starts.map((ms) => ms / 1_000),
      groupBy: alert.group_by,
      metrics: [...new Set<SpanMetric>([metric ?? "number_of_requests", "number_of_requests"])],
      scores: evaluator === undefined ? [] : [evaluator],
      top: limits.alertGroups,
      rankBy: metric !== undefined && isUpward ? metric : "number_of_requests",
    },
    signal,
  );
  const name = metric ?? `${scoreMetricPrefix}${evaluator}`;
  const emptyValue = metric !== undefined && countMetrics.has(metric) ? 0 : null;
  const valueOf = (point: SeriesPoint | undefined): number | null => point?.[name] ?? emptyValue;
  const read = ({ group, points }: SpanSeries): AlertMeasurement => {
    const [now, before] = [points.get(starts.length - 1), starts.length > 1 ? points.get(0) : undefined];
    return {
      group,
      value: valueOf(now),
      number_of_requests: now?.["number_of_requests"] ?? 0,
      previous_value: starts.length > 1 ? valueOf(before) : null,
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
