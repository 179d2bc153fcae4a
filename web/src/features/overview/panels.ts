import { seriesOfMetrics, sumOf, type ChartData, type Timeseries } from "../../charts/chart-data.ts";
import type { Shape } from "../../charts/plot-data.ts";
import type { FieldTerm } from "../../query-bar/query.ts";
import { failedTerm } from "../series/terms.ts";
import type { FigureKind } from "../../charts/figures.ts";

export const panelIds = ["requests", "errors", "cost", "tokens", "latency", "ttft"] as const;
export type PanelId = (typeof panelIds)[number];

type Line = { metric: string; label: string; color: string };

export type Panel = {
  id: PanelId;
  title: string;
  hint: string;
  kind: FigureKind;
  shape: Shape;
  /** The lines of the small chart. */
  lines: readonly Line[];
  /** The metric that the large chart shows for each group. */
  groupMetric: string;
  /** The headline's metric, which has the same name in a time series and in the summary of the previous window. */
  total: string;
  /** Latencies cover model calls only: agents and tools last as long as the calls within them. */
  isOfModelCalls: boolean;
  /** Selects the spans behind the figure, if these are not all. */
  term?: FieldTerm;
  /** The sort order of these spans, if it is not newest first. */
  sort?: string;
  /** Whether a higher value is worse. */
  isBad?: true;
};

export const modelCallTypes = ["text", "chat", "completion", "response", "generation"] as const;

const modelCalls: FieldTerm = {
  type: "field",
  field: "log_type",
  operator: "is",
  values: [...modelCallTypes],
  negated: false,
};

export const panels: readonly Panel[] = [
  {
    id: "requests",
    title: "Spans",
    hint: "Spans of every kind: model calls, tools, agents and others. One of your requests may create many",
    kind: "count",
    shape: "bars",
    lines: [
      { metric: "failed", label: "failed", color: "--error" },
      { metric: "succeeded", label: "succeeded", color: "--chart-1" },
    ],
    groupMetric: "number_of_requests",
    total: "number_of_requests",
    isOfModelCalls: false,
  },
  {
    id: "errors",
    title: "Errors",
    hint: "Spans that failed, or whose status code is 400 or above",
    kind: "count",
    shape: "bars",
    lines: [{ metric: "error_count", label: "errors", color: "--error" }],
    groupMetric: "error_count",
    total: "error_count",
    isOfModelCalls: false,
    term: failedTerm,
    isBad: true,
  },
  {
    id: "cost",
    title: "Cost",
    hint: "US dollars, of calls with a known price",
    kind: "cost",
    shape: "bars",
    lines: [{ metric: "total_cost", label: "cost", color: "--chart-3" }],
    groupMetric: "total_cost",
    sort: "-cost",
    total: "total_cost",
    isOfModelCalls: false,
  },
  {
    id: "tokens",
    title: "Tokens",
    hint: "Input and output tokens; each call counts once",
    kind: "count",
    shape: "bars",
    lines: [
      { metric: "total_prompt_tokens", label: "input", color: "--chart-8" },
      { metric: "total_completion_tokens", label: "output", color: "--chart-2" },
    ],
    groupMetric: "total_tokens",
    sort: "-total_tokens",
    total: "total_tokens",
    isOfModelCalls: false,
  },
  {
    id: "latency",
    title: "Latency",
    hint: "Of model calls, from the request to the whole answer: median and 95th percentile",
    kind: "duration",
    shape: "lines",
    lines: [
      { metric: "p50_latency", label: "p50", color: "--chart-1" },
      { metric: "p95_latency", label: "p95", color: "--chart-3" },
    ],
    groupMetric: "p95_latency",
    sort: "-latency",
    total: "p95_latency",
    isOfModelCalls: true,
    term: modelCalls,
    isBad: true,
  },
  {
    id: "ttft",
    title: "Time to first token",
    hint: "Of streamed model calls: median and 95th percentile",
    kind: "duration",
    shape: "lines",
    lines: [
      { metric: "p50_time_to_first_token", label: "p50", color: "--chart-1" },
      { metric: "p95_time_to_first_token", label: "p95", color: "--chart-3" },
    ],
    groupMetric: "p95_time_to_first_token",
    sort: "-time_to_first_token",
    total: "p95_time_to_first_token",
    isOfModelCalls: true,
    term: modelCalls,
    isBad: true,
  },
];

export const allMetrics = [
  "number_of_requests",
  "error_count",
  "error_percentage",
  "total_cost",
  "unpriced_count",
  "total_tokens",
  "total_prompt_tokens",
  "total_completion_tokens",
] as const;

export const modelCallMetrics = [
  "number_of_requests",
  "p50_latency",
  "p95_latency",
  "p50_time_to_first_token",
  "p95_time_to_first_token",
] as const;

/** The small chart of a panel. */
export function panelData({ lines }: Panel, timeseries: Timeseries): ChartData {
  const data = seriesOfMetrics(withSucceeded(timeseries), lines);
  const isStack = lines.length > 1 && lines.every(({ metric }) => !metric.startsWith("p"));
  // The headline already shows that a line is all zero; unknown lines keep their name.
  return isStack ? { ...data, series: data.series.filter(({ total }) => total !== 0) } : data;
}

/** Adds the succeeded and failed counts, which sum to the requests. */
function withSucceeded(timeseries: Timeseries): Timeseries {
  const series = timeseries.series.map(({ group, values, totals }) => {
    const failed = values["error_count"] ?? [];
    const rest = (all: number | null | undefined, some: number | null | undefined) =>
      all === null || all === undefined ? null : all - (some ?? 0);
    const succeeded = (values["number_of_requests"] ?? []).map((all, at) => rest(all, failed[at]));
    return {
      group,
      values: { ...values, failed, succeeded },
      totals: {
        ...totals,
        failed: sumOf(failed),
        succeeded: rest(totals["number_of_requests"], totals["error_count"]),
      },
    };
  });
  return { ...timeseries, series };
}
