import { spanFlags, type TraceSpans } from "./trace-spans.ts";

/** A node of `span_tree` as the trace routes return it. Null members may be omitted. */
export type TreeNode = {
  unique_id?: string | null;
  span_unique_id?: string | null;
  span_parent_id?: string | null;
  span_name?: string | null;
  log_type?: string | null;
  model?: string | null;
  provider_id?: string | null;
  customer_identifier?: string | null;
  counted_customer_identifier?: string | null;
  status?: string | null;
  status_code?: number | null;
  error_message?: string | null;
  start_time?: string | null;
  timestamp?: string | null;
  latency?: number | null;
  time_to_first_token?: number | null;
  cost?: number | null;
  counted_cost?: number | null;
  total_tokens?: number | null;
  counted_tokens?: number | null;
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  input?: unknown;
  output?: unknown;
  children?: readonly TreeNode[];
};

/** Log types that are model calls: those without a cost are unpriced. */
const modelCalls = new Set(
  "chat completion text response generation embedding speech transcription reranker".split(" "),
);

/** The columns of the span table that the page requests. */
export const tableFields = [
  "unique_id",
  "span_unique_id",
  "span_parent_id",
  "span_name",
  "log_type",
  "model",
  "provider_id",
  "customer_identifier",
  "counted_customer_identifier",
  "status",
  "status_code",
  "error_message",
  "start_time",
  "timestamp",
  "latency",
  "time_to_first_token",
  "cost",
  "counted_cost",
  "total_tokens",
  "counted_tokens",
  "prompt_tokens",
  "completion_tokens",
] as const satisfies readonly (keyof TreeNode)[];

/** Spans as rows, each directly before its descendants. */
export type SpanTable = {
  members: readonly string[];
  /** For each row, the row of its parent. */
  parents: readonly (number | null)[];
  rows: readonly (readonly unknown[])[];
};

type Visit = (node: TreeNode, index: number, parent: number) => void;

/** Reads a tree into columns. Iterative, because a tree may be as deep as it has spans. */
export function readSpans(roots: readonly TreeNode[], onNode?: (node: TreeNode, index: number) => void): TraceSpans {
  return readAll(countNodes(roots), (visit) =>
    walk(roots, (node, index, parent) => {
      visit(node, index, parent);
      onNode?.(node, index);
    }),
  );
}

export function readTable({ members, parents, rows }: SpanTable): TraceSpans {
  return readAll(rows.length, (visit) => {
    // One object reused for all rows; nobody may retain it.
    const node: Record<string, unknown> = {};
    for (const [index, row] of rows.entries()) {
      for (let member = 0; member < members.length; member += 1) node[members[member] as string] = row[member];
      visit(node, index, parents[index] ?? -1);
    }
  });
}

function readAll(count: number, visitAll: (visit: Visit) => void): TraceSpans {
  const spans = emptyColumns(count);
  const texts = createDictionary();
  const kinds = createDictionary();
  const named: number[] = [];
  visitAll((node, index, parent) => {
    spans.parents[index] = parent;
    spans.depths[index] = parent === -1 ? 0 : (spans.depths[parent] ?? 0) + 1;
    spans.ids.push(node.unique_id ?? "");
    readTimes(spans, node, index);
    readFigures(spans, node, index);
    spans.kinds[index] = kinds.add(node.log_type || "unknown");
    spans.names[index] = texts.add(node.span_name ?? "");
    spans.models[index] = texts.add(node.model ?? "");
    spans.providers[index] = texts.add(node.provider_id ?? "");
    spans.customers[index] = texts.add(node.counted_customer_identifier ?? node.customer_identifier ?? "");
    spans.errors[index] = texts.add(node.error_message ?? "");
    spans.spanIds[index] = texts.add(node.span_unique_id ?? "");
    if (parent === -1 && node.span_parent_id) {
      spans.namedParents.set(index, node.span_parent_id);
      named.push(index);
    }
  });
  for (let index = count - 1; index >= 0; index -= 1) {
    const end = Math.max(spans.ends[index] ?? 0, index + 1);
    const parent = spans.parents[index] ?? -1;
    spans.ends[index] = end;
    if (parent !== -1) spans.ends[parent] = Math.max(spans.ends[parent] ?? 0, end);
  }
  for (const index of named) {
    const isHere = hasSpanId(spans, texts.find(spans.namedParents.get(index) ?? ""));
    spans.flags[index] = (spans.flags[index] ?? 0) | (isHere ? spanFlags.brokenCycle : spanFlags.orphan);
  }
  spans.texts = texts.list;
  spans.kindNames = kinds.list.slice(1);
  for (let index = 0; index < spans.count; index += 1) spans.kinds[index] = (spans.kinds[index] ?? 1) - 1;
  return spans;
}

function hasSpanId(spans: TraceSpans, text: number | undefined): boolean {
  return text !== undefined && text !== 0 && spans.spanIds.includes(text);
}

function readTimes(spans: TraceSpans, node: TreeNode, index: number): void {
  const end = parseMs(node.timestamp);
  const start = parseMs(node.start_time);
  const from = Number.isNaN(start) ? end : start;
  const to = Number.isNaN(end) ? from : end;
  spans.starts[index] = from;
  spans.finishes[index] = Math.max(from, to);
  if (to < from) spans.flags[index] = (spans.flags[index] ?? 0) | spanFlags.reversed;
  spans.durations[index] = (node.latency ?? Number.NaN) * 1000;
  spans.firstTokens[index] = (node.time_to_first_token ?? Number.NaN) * 1000;
}

function readFigures(spans: TraceSpans, node: TreeNode, index: number): void {
  spans.costs[index] = node.cost ?? Number.NaN;
  spans.countedCosts[index] = node.counted_cost ?? Number.NaN;
  spans.tokens[index] = node.total_tokens ?? Number.NaN;
  spans.countedTokens[index] = node.counted_tokens ?? Number.NaN;
  spans.promptTokens[index] = node.prompt_tokens ?? Number.NaN;
  spans.completionTokens[index] = node.completion_tokens ?? Number.NaN;
  spans.statusCodes[index] = node.status_code ?? 0;
  let flags = spans.flags[index] ?? 0;
  if (node.status === "failed" || (node.status_code ?? 0) >= 400) flags |= spanFlags.failed;
  if ((node.counted_cost ?? null) === null && modelCalls.has(node.log_type ?? "")) flags |= spanFlags.unpriced;
  spans.flags[index] = flags;
}

/** Milliseconds since the epoch with the fraction that `Date` drops; NaN if there is no time. */
export function parseMs(text: string | null | undefined): number {
  if (!text) return Number.NaN;
  const ms = Date.parse(text);
  const point = text.indexOf(".");
  if (point === -1 || text.length <= point + 5) return ms;
  const rest = Number.parseFloat(`0.${text.slice(point + 4)}`);
  return Number.isNaN(rest) ? ms : ms + rest;
}

function countNodes(roots: readonly TreeNode[]): number {
  let count = 0;
  walk(roots, () => {
    count += 1;
  });
  return count;
}

/** Visits each node before its children. */
function walk(roots: readonly TreeNode[], enter: Visit): void {
  let count = 0;
  const levels = [{ nodes: roots, next: 0, parent: -1 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const node = level.nodes[level.next];
    if (node === undefined) {
      levels.pop();
      continue;
    }
    level.next += 1;
    enter(node, count, level.parent);
    levels.push({ nodes: node.children ?? [], next: 0, parent: count });
    count += 1;
  }
}

/** Deduplicates texts. The first entry is ''. */
function createDictionary() {
  const list = [""];
  const places = new Map([["", 0]]);
  return {
    list,
    find: (text: string) => places.get(text),
    add(text: string): number {
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, list.length);
      return list.push(text) - 1;
    },
  };
}

function emptyColumns(count: number): TraceSpans {
  const numbers = () => new Float64Array(count);
  const places = () => new Int32Array(count);
  const texts = () => new Uint32Array(count);
  return {
    count,
    ids: [],
    parents: places(),
    ends: places(),
    depths: places(),
    starts: numbers(),
    finishes: numbers(),
    durations: numbers(),
    firstTokens: numbers(),
    costs: numbers(),
    countedCosts: numbers(),
    tokens: numbers(),
    countedTokens: numbers(),
    promptTokens: numbers(),
    completionTokens: numbers(),
    flags: new Uint8Array(count),
    statusCodes: places(),
    kinds: texts(),
    kindNames: [],
    names: texts(),
    models: texts(),
    providers: texts(),
    customers: texts(),
    errors: texts(),
    spanIds: texts(),
    texts: [],
    namedParents: new Map(),
  };
}
