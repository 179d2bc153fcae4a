import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import {
  bucketIntervals,
  bucketStarts,
  chooseInterval,
  isTimeZone,
  type BucketInterval,
} from "../../domain/time-buckets.ts";
import { endpoint } from "../../http/endpoint.ts";
import { wholeNumber } from "../../http/query.ts";
import { limits } from "../../limits.ts";
import {
  countMetrics,
  spanMetrics,
  type SeriesPoint,
  type SpanMetric,
  type SpanSeries,
} from "../../storage/spans/span-series.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { groupByDescription, groupByExamples, readGroupBy } from "./group-by.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";

const intervals = ["auto", ...bucketIntervals] as const;
const defaultMetrics = ["number_of_requests", "error_count", "total_cost", "total_tokens"];
const scorePrefix = "scores__";
/** About so many buckets make a chart. */
const aboutBuckets = 60;

const metric = z.number().nullable();
const values = z
  .record(z.string(), z.array(metric))
  .meta({ description: "By metric, a value for each bucket; null is unknown." });
const totals = z.record(z.string(), metric).meta({ description: "By metric, over the whole window." });

const timeseries = z
  .object({
    interval: z.enum(bucketIntervals),
    timezone: z.string(),
    buckets: z.array(z.string().meta({ format: "date-time" })).meta({
      description:
        "The start of every bucket of the window. The first may begin before the window, which it then holds a part of.",
    }),
    series: z.array(z.object({ group: z.record(z.string(), z.unknown()), values, totals })),
    other: z
      .object({ values, totals })
      .nullable()
      .meta({ description: "All groups without a series of their own, together. Null where there are none." }),
    ...coverageSchema,
  })
  .meta({ id: "SpanTimeseries" });

const metricNames: ReadonlySet<string> = new Set(spanMetrics);
const isMetric = (name: string): name is SpanMetric => metricNames.has(name);
const isScore = (name: string): boolean =>
  name.startsWith(scorePrefix) && name.length > scorePrefix.length && name.length <= limits.nameChars;

const seriesQuery = {
  interval: z
    .enum(intervals, { error: `interval must be one of ${intervals.join(", ")}` })
    .default("auto")
    .meta({ description: `auto: about ${aboutBuckets} buckets.` }),
  timezone: z
    .string()
    .default("UTC")
    .refine(isTimeZone, "timezone must be an IANA name such as Europe/Berlin")
    .meta({ description: "Hours, days, ISO weeks and months are those of this time zone." }),
  group_by: z
    .string({ error: "group_by must be given once" })
    .optional()
    .transform((text, context) => {
      const read = text === undefined || text === "" ? { names: [] } : readGroupBy(text);
      if ("names" in read) return read.names;
      context.addIssue({ code: "custom", message: read.message });
      return z.NEVER;
    })
    .meta({ description: groupByDescription, examples: groupByExamples }),
  metrics: z
    .string({ error: "metrics must be given once" })
    .optional()
    .transform((text, context) => {
      const names = text === undefined || text === "" ? defaultMetrics : text.split(",").map((name) => name.trim());
      const unknown = names.filter((name) => !isMetric(name) && !isScore(name));
      if (unknown.length === 0) return [...new Set(names)];
      const message = `metrics has no ${unknown.slice(0, 3).join(", ")}: it takes ${spanMetrics.join(", ")} and ${scorePrefix}<evaluator>`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .meta({
      default: defaultMetrics.join(","),
      description: `Separated by commas: ${spanMetrics.join(", ")}, ${scorePrefix}<id or slug of an evaluator>.`,
    }),
  top: wholeNumber("top", { min: 1, max: limits.seriesMax, default: 10 }),
};

export const seriesSpans = (deps: SpanReadDeps & { spans: SpanStore }) =>
  endpoint({
    id: "span_timeseries",
    method: "POST",
    path: "/api/request-logs/timeseries/",
    aliases: [
      { method: "GET", path: "/api/request-logs/timeseries/" },
      { method: "GET", path: "/request-logs/timeseries/" },
      "/request-logs/timeseries/",
    ],
    summary: "Chart spans over time",
    description:
      "Metrics of spans by bucket of time, as one series or one for each group. Filters come in the body and in the URL, as in the list of spans. Sums over the buckets are those of the summary and of groups.",
    tags: ["Spans"],
    auth: "key",
    permission: "analytics:read",
    takesTurns: true,
    query: z.object({ ...seriesQuery, ...selectionQuery() }),
    body: { kind: "json", schema: filtersBody, example: { filters: { log_type: { operator: "", value: ["chat"] } } } },
    success: { status: 200, schema: timeseries },
    errors: ["invalid_request", "forbidden", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, signal }) {
      const { organization_id: organizationId } = principal;
      const selection = readSelection(deps, { organizationId, query, body, rawQuery });
      const { group_by: groupBy, top, timezone } = query;
      const window = { startNs: selection.window.fromNs, endNs: selection.window.toNs };
      const interval = query.interval === "auto" ? chooseInterval(window, aboutBuckets) : query.interval;
      const starts = readBuckets(window, interval, timezone);
      refusePoints({
        series: groupBy.length === 0 ? 1 : top + 1,
        buckets: starts.length,
        metrics: query.metrics.length,
      });
      const metrics = query.metrics.filter(isMetric);
      const scores = query.metrics.filter(isScore).map((name) => name.slice(scorePrefix.length));
      const found = await deps.spans.spanSeries(
        { ...selection, starts, groupBy, metrics, scores, top, rankBy: rankOf(metrics) },
        signal,
      );
      const present = (series: Omit<SpanSeries, "group">) => presentSeries(series, query.metrics, starts.length);
      return {
        interval,
        timezone,
        buckets: starts.map((start) => `${new Date(start * 1000).toISOString().slice(0, 19)}Z`),
        series: found.series.map((series) => ({ group: series.group, ...present(series) })),
        other: found.other === undefined ? null : present(found.other),
        ...coverageOf(selection),
        ...(selection.warnings.length > 0 && { warnings: selection.warnings }),
      };
    },
  });

/** The largest series are those with most of the first metric, if that adds up; else those with most spans. */
function rankOf([first]: readonly SpanMetric[]): SpanMetric {
  return first !== undefined && (countMetrics.has(first) || first === "total_cost") ? first : "number_of_requests";
}

function readBuckets(window: { startNs: bigint; endNs: bigint }, interval: BucketInterval, timeZone: string): number[] {
  const max = limits.seriesBuckets;
  const starts = bucketStarts(window, { interval, timeZone, max });
  if (starts !== undefined) return starts;
  throw refusal(
    "interval",
    `interval=${interval} makes more than ${max} buckets: choose a longer one or a shorter window`,
  );
}

function refusePoints({ series, buckets, metrics }: { series: number; buckets: number; metrics: number }): void {
  const points = series * buckets * metrics;
  if (points <= limits.seriesPoints) return;
  const message = `${series} series of ${buckets} buckets with ${metrics} metrics are ${points} points, at most ${limits.seriesPoints}`;
  throw refusal(series > 1 ? "top" : "metrics", `${message}: choose fewer series or metrics, or a longer interval`);
}

function refusal(parameter: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [parameter]: [message] } });
}

function presentSeries({ points, totals }: Omit<SpanSeries, "group">, metrics: readonly string[], buckets: number) {
  const valueOf = (point: SeriesPoint | undefined, name: string): number | null =>
    point?.[name] ?? (isMetric(name) && countMetrics.has(name) ? 0 : null);
  return {
    values: Object.fromEntries(
      metrics.map((name) => [name, Array.from({ length: buckets }, (_, place) => valueOf(points.get(place), name))]),
    ),
    totals: Object.fromEntries(metrics.map((name) => [name, valueOf(totals, name)])),
  };
}
