import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import {
  bucketIntervals,
  bucketStarts,
  chooseInterval,
  isTimeZone,
  type BucketInterval,
} from "../domain/time-buckets.ts";
import { wholeNumber } from "../http/query.ts";
import type { GroupBy } from "./group-by.ts";
import { apiLimits } from "./limits.ts";
import type { SeriesPoint, SpanSeries, SpanSeriesResult } from "../storage/spans/span-series.ts";
import type { TimeWindow } from "../storage/spans/span-store.ts";
import { coverageSchema } from "./coverage.ts";

const intervals = ["auto", ...bucketIntervals] as const;
/** Approximate number of buckets of a chart. */
const aboutBuckets = 60;

const metric = z.number().nullable();
const values = z
  .record(z.string(), z.array(metric))
  .meta({ description: "By metric, one value per bucket; null is unknown." });
const totals = z.record(z.string(), metric).meta({ description: "By metric, over the whole window." });

export const timeseriesSchema = (id: string) =>
  z
    .object({
      interval: z.enum(bucketIntervals),
      timezone: z.string(),
      buckets: z.array(z.string().meta({ format: "date-time" })).meta({
        description:
          "The start of every bucket of the window. The first bucket may begin before the window; it then covers only a part of it.",
      }),
      series: z.array(z.object({ group: z.record(z.string(), z.unknown()), values, totals })),
      other: z
        .object({ values, totals })
        .nullable()
        .meta({ description: "All groups without a series of their own, together. Null if there are none." }),
      ...coverageSchema,
    })
    .meta({ id });

/** The query parameters of every chart. */
export function seriesQuery({
  groupBy,
  metrics,
}: {
  groupBy: GroupBy;
  metrics: { isKnown: (name: string) => boolean; known: string; byDefault: readonly string[] };
}) {
  return {
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
      .string()
      .optional()
      .transform((text, context) => {
        const read = text === undefined ? { names: [] } : groupBy.read(text);
        if ("names" in read) return read.names;
        context.addIssue({ code: "custom", message: read.message });
        return z.NEVER;
      })
      .meta({ description: groupBy.description, examples: groupBy.examples }),
    metrics: z
      .string()
      .optional()
      .transform((text, context) => {
        const names = text?.split(",").map((name) => name.trim()) ?? metrics.byDefault;
        const unknown = names.filter((name) => !metrics.isKnown(name));
        if (unknown.length === 0) return [...new Set(names)];
        const message = `metrics has no ${unknown.slice(0, 3).join(", ")}: it takes ${metrics.known}`;
        context.addIssue({ code: "custom", message });
        return z.NEVER;
      })
      .meta({ default: metrics.byDefault.join(","), description: `Separated by commas: ${metrics.known}.` }),
    top: wholeNumber("top", { min: 1, max: apiLimits.seriesMax, default: 10 }),
  };
}

type SeriesRequest = {
  interval: "auto" | BucketInterval;
  timezone: string;
  group_by: readonly string[];
  metrics: readonly string[];
  top: number;
};

/** @throws ServiceError `invalid_request` that names what to change */
export function planSeries(query: SeriesRequest, { fromNs, toNs }: TimeWindow) {
  const window = { startNs: fromNs, endNs: toNs };
  const interval = query.interval === "auto" ? chooseInterval(window, aboutBuckets) : query.interval;
  const starts = readBuckets(window, interval, query.timezone);
  refusePoints({
    series: query.group_by.length === 0 ? 1 : query.top + 1,
    buckets: starts.length,
    metrics: query.metrics.length,
  });
  return { interval, starts };
}

function readBuckets(window: { startNs: bigint; endNs: bigint }, interval: BucketInterval, timeZone: string): number[] {
  const max = apiLimits.seriesBuckets;
  const starts = bucketStarts(window, { interval, timeZone, max });
  if (starts !== undefined) return starts;
  const message = `interval=${interval} makes more than ${max} buckets`;
  // There is no interval longer than a month.
  throw interval === bucketIntervals.at(-1)
    ? refusal("start_time", `${message}: choose a shorter window`)
    : refusal("interval", `${message}: choose a longer one or a shorter window`);
}

function refusePoints({ series, buckets, metrics }: { series: number; buckets: number; metrics: number }): void {
  const points = series * buckets * metrics;
  if (points <= apiLimits.seriesPoints) return;
  const message = `${series} series of ${buckets} buckets with ${metrics} metrics are ${points} points, at most ${apiLimits.seriesPoints}`;
  throw refusal(series > 2 ? "top" : "metrics", `${message}: choose fewer series or metrics, or a longer interval`);
}

function refusal(parameter: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [parameter]: [message] } });
}

/** `isCount`: whether a metric is 0 if there are no spans. */
export function presentTimeseries(
  { timezone, metrics }: Pick<SeriesRequest, "timezone" | "metrics">,
  { interval, starts }: ReturnType<typeof planSeries>,
  found: SpanSeriesResult,
  isCount: (metric: string) => boolean,
) {
  const present = (series: Omit<SpanSeries, "group">) => presentSeries(series, metrics, starts.length, isCount);
  return {
    interval,
    timezone,
    buckets: starts.map((start) => `${new Date(start * 1000).toISOString().slice(0, 19)}Z`),
    series: found.series.map((series) => ({ group: series.group, ...present(series) })),
    other: found.other === undefined ? null : present(found.other),
  };
}

function presentSeries(
  { points, totals }: Omit<SpanSeries, "group">,
  metrics: readonly string[],
  buckets: number,
  isCount: (metric: string) => boolean,
) {
  const valueOf = (point: SeriesPoint | undefined, name: string): number | null =>
    point?.[name] ?? (isCount(name) ? 0 : null);
  return {
    values: Object.fromEntries(
      metrics.map((name) => [name, Array.from({ length: buckets }, (_, place) => valueOf(points.get(place), name))]),
    ),
    totals: Object.fromEntries(metrics.map((name) => [name, valueOf(totals, name)])),
  };
}
