import { boundsOf, type TraceBounds } from "./axis.ts";
import { criticalPath, type CriticalPath } from "./critical-path.ts";
import { readSpans, readTable, type SpanTable, type TreeNode } from "./read-spans.ts";
import { failedSpans, slowestSpans } from "./search.ts";
import { treeTotals, type TreeTotals } from "./totals.ts";
import { buffersOf, type TraceSpans } from "./trace-spans.ts";

/** A trace as its routes return it, without the tree. A shared trace has no customer. */
export type TraceHeader = {
  trace_unique_id: string;
  unique_organization_id: string;
  organization_name: string | null;
  environment: string;
  name: string | null;
  customer_identifier?: string | null;
  thread_identifier: string | null;
  timestamp: string;
  start_time: string;
  duration: number;
  span_count: number;
  llm_call_count: number;
  error_count: number;
  total_cost: number;
  total_tokens: number;
  total_prompt_tokens: number;
  total_completion_tokens: number;
  unpriced_count: number;
  is_slim: boolean;
  is_truncated: boolean;
};

type TraceAnswer = TraceHeader & ({ span_tree: TreeNode[] } | { span_table: SpanTable });

/** The inputs and outputs of each span; null if there is none. */
export type SpanTexts = { inputs: (string | null)[]; outputs: (string | null)[] };

/** A trace with everything derived from it alone. */
export type TraceModel = {
  header: TraceHeader;
  spans: TraceSpans;
  bounds: TraceBounds;
  totals: TreeTotals;
  path: CriticalPath;
  /** In tree order. */
  failed: Int32Array<ArrayBuffer>;
  /** Slowest first, wrappers last. */
  slowest: Int32Array<ArrayBuffer>;
  /** Undefined if the response contains no texts. */
  texts?: SpanTexts;
};

const slowSpans = 50;

export function readTrace(text: string): TraceModel {
  const answer = JSON.parse(text) as TraceAnswer;
  const texts: SpanTexts = { inputs: [], outputs: [] };
  const spans =
    "span_table" in answer
      ? readTable(answer.span_table)
      : readSpans(answer.span_tree, ({ input, output }) => {
          texts.inputs.push(textOf(input));
          texts.outputs.push(textOf(output));
        });
  const totals = treeTotals(spans);
  return {
    header: headerOf(answer),
    spans,
    bounds: boundsOf(spans),
    totals,
    path: criticalPath(spans),
    failed: failedSpans(spans),
    slowest: slowestSpans(spans, totals.selfTimes, slowSpans),
    ...(!answer.is_slim && { texts }),
  };
}

/** Drops members that no header shows, which may be large. */
function headerOf(answer: TraceHeader): TraceHeader {
  const left = new Set(["input", "output", "metadata", "span_tree", "span_table"]);
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !left.has(name))) as TraceHeader;
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === "") return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The buffers to transfer between threads instead of copying. */
export function transferOf({ spans, totals, path, failed, slowest }: TraceModel): ArrayBuffer[] {
  const own = Object.values(totals).map((column) => column.buffer);
  return [...buffersOf(spans), ...own, path.isOn.buffer, failed.buffer, slowest.buffer];
}
