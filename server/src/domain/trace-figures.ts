import { llmLogTypes } from "./span.ts";
import { compareSpans, type TreeSpan } from "./span-tree.ts";
import { traceTexts, usageLevels, type TraceNumber, type TraceText } from "./trace.ts";

/** What the figures of a trace follow from. '' and null are absent; times sort as text, integers may be text. */
export type FigureSpan = TreeSpan & {
  log_type?: string;
  status?: string;
  status_code?: number | string | null;
  cost?: number | null;
  total_tokens?: number | string | null;
  prompt_tokens?: number | string | null;
  completion_tokens?: number | string | null;
} & { [T in Exclude<TraceText, "workflow_name">]?: string } & { span_workflow_name?: string };

export type TraceFigures<Span> = Record<Exclude<TraceNumber, "duration">, number> &
  Record<TraceText, string> & {
    start_time: string;
    end_time: string;
    /** The earliest span without a parent in the trace; of a trace that is all cycle the earliest. */
    root: Span;
  };

/**
 * The figures of a trace from all its spans, in any order; undefined of none. The same as those that lists compute where
 * the spans are kept, `storage/spans/queries/trace-figures.ts` and `roll-up.ts`: a test holds one to the other.
 */
export function figuresOfTrace<Span extends FigureSpan>(spans: readonly Span[]): TraceFigures<Span> | undefined {
  const [first] = spans;
  if (first === undefined) return undefined;
  const restated = restatedSpans(spans);
  const sums = { total_cost: 0, total_tokens: 0, total_prompt_tokens: 0, total_completion_tokens: 0 };
  const counts = { span_count: spans.length, llm_call_count: 0, error_count: 0, unpriced_count: 0 };
  let { start_time, timestamp: end_time } = first;
  for (const span of spans) {
    if (span.start_time < start_time) start_time = span.start_time;
    if (span.timestamp > end_time) end_time = span.timestamp;
    const isCounted = !restated.has(span);
    if (modelCalls.has(span.log_type ?? "")) {
      counts.llm_call_count += 1;
      if (isCounted && (span.cost ?? null) === null) counts.unpriced_count += 1;
    }
    if (span.status === "failed" || Number(span.status_code ?? 0) >= 400) counts.error_count += 1;
    if (!isCounted) continue;
    sums.total_cost += span.cost ?? 0;
    sums.total_tokens += Number(span.total_tokens ?? 0);
    sums.total_prompt_tokens += Number(span.prompt_tokens ?? 0);
    sums.total_completion_tokens += Number(span.completion_tokens ?? 0);
  }
  const root = rootOf(spans) ?? first;
  const total_cost = Math.round(sums.total_cost * 1e12) / 1e12;
  return { ...counts, ...sums, total_cost, ...textsOf(spans, root), start_time, end_time, root };
}

const modelCalls: ReadonlySet<string> = new Set(llmLogTypes);

const hasUsage = ({ total_tokens, cost }: FigureSpan): boolean => Number(total_tokens ?? 0) > 0 || (cost ?? 0) > 0;

/** Spans with usage that have a span with usage below them, through spans without. */
function restatedSpans<Span extends FigureSpan>(spans: readonly Span[]): ReadonlySet<Span> {
  const byId = new Map<string, Span[]>();
  for (const span of spans) {
    if (span.span_unique_id === "") continue;
    const others = byId.get(span.span_unique_id);
    if (others === undefined) byId.set(span.span_unique_id, [span]);
    else others.push(span);
  }
  const parents = (span: Span) =>
    span.span_parent_id === span.span_unique_id ? [] : (byId.get(span.span_parent_id) ?? []);
  const restated = new Set<Span>();
  const climbed = new Set<Span>();
  let level = spans.filter(hasUsage);
  for (let height = 1; level.length > 0 && height <= usageLevels; height += 1) {
    const above: Span[] = [];
    for (const parent of level.flatMap(parents)) {
      if (hasUsage(parent)) restated.add(parent);
      else if (!climbed.has(parent)) {
        climbed.add(parent);
        above.push(parent);
      }
    }
    level = above;
  }
  return restated;
}

function rootOf<Span extends FigureSpan>(spans: readonly Span[]): Span | undefined {
  const ids = new Set(spans.map((span) => span.span_unique_id));
  ids.delete("");
  const tops = spans.filter(({ span_parent_id: parent }) => parent === "" || !ids.has(parent));
  return earliest(tops.length > 0 ? tops : spans);
}

function earliest<Span extends FigureSpan>(spans: readonly Span[]): Span | undefined {
  let found: Span | undefined;
  for (const span of spans) if (found === undefined || compareSpans(span, found) < 0) found = span;
  return found;
}

const columnOf = (text: TraceText) => (text === "workflow_name" ? "span_workflow_name" : text);

function textsOf<Span extends FigureSpan>(spans: readonly Span[], root: Span): Record<TraceText, string> {
  const texts = traceTexts.map((name) => {
    const column = columnOf(name);
    const own = root[column] ?? "";
    if (own !== "") return [name, own];
    const saying = spans.filter((span) => (span[column] ?? "") !== "");
    const tops = saying.filter((span) => span.span_parent_id === "");
    return [name, earliest(tops.length > 0 ? tops : saying)?.[column] ?? ""];
  });
  return Object.fromEntries(texts) as Record<TraceText, string>;
}
