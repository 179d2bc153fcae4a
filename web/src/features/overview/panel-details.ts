import type { Term } from "../../query-bar/query.ts";
import { formatCount, formatDuration, formatInteger, formatPercent } from "../../lib/format.ts";
import { unknownCostText, whyUnknownCost } from "../../lib/known-cost.ts";
import { modelCallTypes, type PanelId } from "./panels.ts";

type Totals = Readonly<Record<string, number | null>>;

export type Detail = { text: string; title?: string; terms?: readonly Term[]; isWarning?: boolean };

/** The remark beside the headline of a chart. */
export function panelDetail(id: PanelId, totals: Totals): Detail | undefined {
  const of = (name: string) => totals[name] ?? null;
  switch (id) {
    case "errors":
      return of("error_percentage") === null
        ? undefined
        : { text: `${formatPercent(of("error_percentage"))} of spans` };
    case "cost":
      return unpricedDetail(of("unpriced_count"));
    case "tokens":
      return {
        text: `${formatCount(of("total_prompt_tokens"))} in · ${formatCount(of("total_completion_tokens"))} out`,
        title: `${formatInteger(of("total_prompt_tokens"))} input and ${formatInteger(of("total_completion_tokens"))} output tokens`,
      };
    case "latency":
      return percentileDetail(of("p50_latency"));
    case "ttft":
      return percentileDetail(of("p50_time_to_first_token"));
    case "requests":
      return undefined;
  }
  return id satisfies never;
}

const percentileDetail = (median: number | null): Detail =>
  median === null ? { text: "no call has one" } : { text: `p95 · p50 ${formatDuration(median)}` };

export function unpricedDetail(count: number | null | undefined): Detail | undefined {
  if (count === null || count === undefined || count === 0) return undefined;
  return {
    text: unknownCostText(count),
    title: whyUnknownCost,
    terms: unpricedTerms,
    isWarning: true,
  };
}

/** Model calls without a cost. */
const unpricedTerms: readonly Term[] = [
  { type: "has", field: "cost", negated: true },
  {
    type: "field",
    field: "log_type",
    operator: "is",
    values: [...modelCallTypes, "embedding", "speech", "transcription", "reranker"],
    negated: false,
  },
];
