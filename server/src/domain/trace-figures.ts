import { llmLogTypes } from "./span.ts";
import { compareSpans, type TreeSpan } from "./span-tree.ts";
import { rootOfTrace } from "./trace-forest.ts";
import { traceTexts, type TraceNumber, type TraceText } from "./trace.ts";

/**
 * The fields of a span that the figures of its trace depend on, beside its place in the tree. '' and null are absent;
 * integers may be text.
 */
export type FigureSpan = {
  log_type?: string;
  status?: string;
  status_code?: number | string | null;
  counted_cost?: number | null;
  counted_tokens?: number | string | null;
  total_tokens?: number | string | null;
  prompt_tokens?: number | string | null;
  completion_tokens?: number | string | null;
} & { [T in Exclude<TraceText, "workflow_name">]?: string } & { span_workflow_name?: string };

export type TraceSums = Record<Exclude<TraceNumber, "duration">, number> & {
  start_time: string;
  end_time: string;
  /** The earliest span without a parent in the trace; the earliest span if all are in cycles. */
  root: TreeSpan;
  /** The texts of the root; if it lacks one, that of the earliest span that has it, spans without a parent first. */
  texts: Record<TraceText, string>;
};

export type TraceFigures = {
  add(place: TreeSpan, span: FigureSpan): void;
  /** Undefined for a trace without spans. */
  finish(): TraceSums | undefined;
};

/**
 * Computes the figures of a trace from all its spans, in any order, without keeping whole spans. Must equal what lists
 * compute in the span store, `storage/spans/queries/trace-figures.ts`: a test compares them.
 */
export function createTraceFigures(): TraceFigures {
  const places: TreeSpan[] = [];
  const usages: Usage[] = [];
  const counts = { llm_call_count: 0, error_count: 0 };
  const texts = createTexts();
  return {
    add(place, span) {
      const isCall = modelCalls.has(span.log_type ?? "");
      if (isCall) counts.llm_call_count += 1;
      if (span.status === "failed" || Number(span.status_code ?? 0) >= 400) counts.error_count += 1;
      places.push(place);
      usages.push(usageOf(span, isCall));
      texts.add(place, span);
    },
    finish() {
      const root = rootOfTrace(places);
      if (root === undefined) return undefined;
      const sum = (of: (usage: Usage) => number) => usages.reduce((total, usage) => total + of(usage), 0);
      return {
        ...counts,
        span_count: places.length,
        unpriced_count: usages.filter(({ isUnpriced }) => isUnpriced).length,
        // Rounded to hide the error of adding doubles.
        total_cost: Math.round(sum(({ cost }) => cost) * 1e12) / 1e12,
        total_tokens: sum(({ total }) => total),
        total_prompt_tokens: sum(({ prompt }) => prompt),
        total_completion_tokens: sum(({ completion }) => completion),
        start_time: places.reduce((least, { start_time: time }) => (time < least ? time : least), root.start_time),
        end_time: places.reduce((most, { timestamp: time }) => (time > most ? time : most), root.timestamp),
        root,
        texts: texts.finish(),
      };
    },
  };
}

const modelCalls: ReadonlySet<string> = new Set(llmLogTypes);

type Usage = { cost: number; total: number; prompt: number; completion: number; isUnpriced: boolean };

const nothing: Usage = { cost: 0, total: 0, prompt: 0, completion: 0, isUnpriced: false };
const unknown: Usage = { ...nothing, isUnpriced: true };

function usageOf(span: FigureSpan, isCall: boolean): Usage {
  const cost = span.counted_cost ?? 0;
  const isUnpriced = isCall && (span.counted_cost ?? null) === null;
  const total = Number(span.counted_tokens ?? 0);
  // Counted tokens of 0 with other tokens in the span: another span counts them.
  const isRestated = span.counted_tokens !== null && total === 0 && span.total_tokens !== 0;
  const [prompt, completion] = [span.prompt_tokens, span.completion_tokens].map((count) =>
    isRestated ? 0 : Number(count ?? 0),
  ) as [number, number];
  // Most spans of most traces used nothing.
  if (cost === 0 && total === 0 && prompt === 0 && completion === 0) return isUnpriced ? unknown : nothing;
  return { cost, total, prompt, completion, isUnpriced };
}

/** Spans without a parent come first, then the earliest. */
function createTexts() {
  const found = traceTexts.map((name) => ({
    column: columnOf(name),
    name,
    text: "",
    by: undefined as TreeSpan | undefined,
  }));
  const isBefore = (a: TreeSpan, b: TreeSpan): boolean => {
    const [isTopA, isTopB] = [a.span_parent_id === "", b.span_parent_id === ""];
    return isTopA === isTopB ? compareSpans(a, b) < 0 : isTopA;
  };
  return {
    add(place: TreeSpan, span: FigureSpan): void {
      for (const entry of found) {
        const text = span[entry.column] ?? "";
        if (text === "" || (entry.by !== undefined && !isBefore(place, entry.by))) continue;
        entry.text = text;
        entry.by = place;
      }
    },
    finish: () => Object.fromEntries(found.map(({ name, text }) => [name, text])) as Record<TraceText, string>,
  };
}

/** Traces call this column workflow_name. */
export const columnOf = (text: TraceText) => (text === "workflow_name" ? ("span_workflow_name" as const) : text);
