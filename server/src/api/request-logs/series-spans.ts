import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { httpLimits } from "../../http/limits.ts";
import { countMetrics, spanMetrics, type SpanMetric } from "../../storage/spans/span-series.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { coverageOf } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { planSeries, presentTimeseries, seriesQuery, timeseriesSchema } from "../series.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";
import { spanGroupBy } from "./span-groupings.ts";

const scorePrefix = "scores__";

const metricNames: ReadonlySet<string> = new Set(spanMetrics);
const isMetric = (name: string): name is SpanMetric => metricNames.has(name);
const isScore = (name: string): boolean =>
  name.startsWith(scorePrefix) && name.length > scorePrefix.length && name.length <= httpLimits.nameChars;

const query = z.object({
  ...seriesQuery({
    groupBy: spanGroupBy,
    metrics: {
      isKnown: (name) => isMetric(name) || isScore(name),
      known: `${spanMetrics.join(", ")} and ${scorePrefix}<id or slug of an evaluator>`,
      byDefault: ["number_of_requests", "error_count", "total_cost", "total_tokens"],
    },
  }),
  ...selectionQuery(),
});

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
      "Metrics of spans per time bucket, as one series or one for each group. Filters are in the body and the URL, as in the list of spans. Sums over the buckets equal those of the summary and of groups.",
    tags: ["Spans"],
    auth: "key",
    permission: "analytics:read",
    waitsInQueue: true,
    query,
    body: { kind: "json", schema: filtersBody, example: { filters: { log_type: { operator: "", value: ["chat"] } } } },
    success: { status: 200, schema: timeseriesSchema("SpanTimeseries") },
    errors: ["invalid_request", "forbidden", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, signal }) {
      const { organization_id: organizationId } = principal;
      const selection = readSelection(deps, { organizationId, query, body, rawQuery });
      const { group_by: groupBy, top } = query;
      const plan = planSeries(query, selection.window);
      const metrics = query.metrics.filter(isMetric);
      const scores = query.metrics.filter(isScore).map((name) => name.slice(scorePrefix.length));
      const found = await deps.spans.spanSeries(
        { ...selection, starts: plan.starts, groupBy, metrics, scores, top, rankBy: rankOf(metrics) },
        signal,
      );
      return {
        ...presentTimeseries(query, plan, found, (name) => isMetric(name) && countMetrics.has(name)),
        ...coverageOf(selection),
        ...(selection.warnings.length > 0 && { warnings: selection.warnings }),
      };
    },
  });

/** The largest series have the highest first metric, if it is additive; otherwise the most spans. */
function rankOf([first]: readonly SpanMetric[]): SpanMetric {
  return first !== undefined && (countMetrics.has(first) || first === "total_cost") ? first : "number_of_requests";
}
