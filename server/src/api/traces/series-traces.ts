import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { requestedEnvironment } from "../../http/query.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { traceCountMetrics, traceGroupings, traceMetrics, type TraceMetric } from "../../storage/spans/trace-series.ts";
import { coverageOf } from "../coverage.ts";
import { groupByOf } from "../group-by.ts";
import { filtersBody, readFilters, selectionQuery } from "../read-filters.ts";
import { planSeries, presentTimeseries, seriesQuery, timeseriesSchema } from "../series.ts";
import { selectTraces, type TraceReadDeps } from "./read-traces.ts";

const metricNames: ReadonlySet<string> = new Set(traceMetrics);
const isMetric = (name: string): name is TraceMetric => metricNames.has(name);

const query = z.object({
  ...seriesQuery({
    groupBy: groupByOf(traceGroupings, "workflow_name,metadata__plan"),
    metrics: {
      isKnown: isMetric,
      known: traceMetrics.join(", "),
      byDefault: ["number_of_traces", "number_of_failed_traces", "total_cost", "p95_duration"],
    },
  }),
  ...selectionQuery(),
});

export const seriesTraces = (deps: TraceReadDeps & { spans: Pick<SpanStore, "traceSeries"> }) =>
  endpoint({
    id: "trace_timeseries",
    method: "POST",
    path: "/api/traces/timeseries/",
    aliases: [{ method: "GET", path: "/api/traces/timeseries/" }],
    summary: "Chart traces over time",
    description:
      "Metrics of the traces that the list has for the window and the filters, per time bucket, as one series or one for each group. " +
      "A trace is counted as a whole, at the time of its last span; a trace that continues after the window is in the last bucket.",
    tags: ["Traces"],
    auth: "key",
    permission: "analytics:read",
    waitsInQueue: true,
    limit: "api",
    query,
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { total_cost: { operator: "gte", value: [0.01] } } },
    },
    success: { status: 200, schema: timeseriesSchema("TraceTimeseries") },
    errors: ["invalid_request", "forbidden", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, signal }) {
      const organizationId = principal.organization_id;
      const { filter, warnings } = readFilters({ body, query, rawQuery }, deps.traceCatalogue);
      const environment = requestedEnvironment(query);
      const selection = selectTraces(deps, { organizationId, query: { ...query, environment }, filter });
      const plan = planSeries(query, selection.window);
      const metrics = query.metrics.filter(isMetric);
      const { group_by: groupBy, top } = query;
      const found = await deps.spans.traceSeries(
        { ...selection, starts: plan.starts, groupBy, metrics, top, rankBy: rankOf(metrics) },
        signal,
      );
      return {
        ...presentTimeseries(query, plan, found, (name) => isMetric(name) && traceCountMetrics.has(name)),
        ...coverageOf(selection),
        ...(warnings.length > 0 && { warnings }),
      };
    },
  });

/** The largest series have the highest first metric, if it is additive; otherwise the most traces. */
function rankOf([first]: readonly TraceMetric[]): TraceMetric {
  return first !== undefined && (traceCountMetrics.has(first) || first === "total_cost") ? first : "number_of_traces";
}
