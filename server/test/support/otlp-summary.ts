import type { Row } from "./test-client.ts";

/** A stored span as a short summary for tables of expectations. Absent members state nothing. */
export type SpanSummary = {
  name: string;
  type: string;
  parent?: string;
  model?: string;
  /** `role: text`, calls of tools as `name(arguments)`. */
  prompt?: string[];
  answer?: string;
  tools?: string;
  /** `input+output=total cached n wrote n thought n` */
  tokens?: string;
  /** Millionths of a US dollar. */
  cost?: number;
  thread?: string;
  customer?: string;
  status?: string;
  streamed?: boolean;
  input?: unknown;
  output?: unknown;
};

type ToolCall = { function: { name: string; arguments: string } };
type Message = { role: string; content: unknown; tool_calls?: ToolCall[] };

export function summarizeSpan(row: Row, all: readonly Row[]): SpanSummary {
  const parent = all.find((other) => other["span_unique_id"] === row["span_parent_id"]);
  const prompt = row["prompt_messages"] as Message[] | null;
  const answer = row["completion_message"] as Message | null;
  const status = `${text(row["status"])} ${text(row["status_code"])}`;
  const tools = (row["tools"] as Array<{ function: { name: string; parameters?: unknown } }> | null) ?? [];
  const cost = row["cost"];
  return definedOnly({
    name: text(row["span_name"]),
    type: text(row["log_type"]),
    parent: row["span_parent_id"] === null ? undefined : text(parent?.["span_name"] ?? "not in the trace"),
    model: text(row["model"]),
    prompt: prompt?.map((message) => `${message.role}: ${sayingOf(message)}`),
    answer: answer === null ? undefined : sayingOf(answer),
    tools: tools.map((tool) => `${tool.function.name}${tool.function.parameters === undefined ? "" : "{}"}`).join(),
    tokens: tokensOf(row),
    cost: typeof cost === "number" ? Number((cost * 1e6).toFixed(6)) : undefined,
    thread: text(row["thread_identifier"]),
    customer: text(row["customer_identifier"]),
    status: status === "success 200" ? undefined : status,
    streamed: row["stream"] === true ? true : undefined,
    input: prompt === null ? row["input"] : undefined,
    output: answer === null ? row["output"] : undefined,
  });
}

/** Sorted, for comparison: siblings may start in the same millisecond. */
export function inAnyOrder(spans: readonly SpanSummary[]): SpanSummary[] {
  const rounded = spans.map((span) =>
    span.cost === undefined ? span : { ...span, cost: Number(span.cost.toFixed(4)) },
  );
  const key = (span: SpanSummary): string =>
    JSON.stringify(Object.entries(span).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return rounded.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function sayingOf({ content, tool_calls }: Message): string {
  const parts = Array.isArray(content) ? (content as Array<Record<string, unknown>>) : [];
  const saying =
    typeof content === "string"
      ? content
      : parts.map((part) => text(part["text"] ?? `<${text(part["type"])}>`)).join(" ");
  const calls = (tool_calls ?? []).map((call) => `${call.function.name}(${call.function.arguments})`);
  return [saying, ...calls].filter((words) => words !== "").join(" ");
}

function tokensOf(row: Row): string {
  const [prompt, completion, total] = ["prompt_tokens", "completion_tokens", "total_tokens"].map((name) => row[name]);
  if (typeof total !== "number") return "";
  const parts = [
    ["cached", row["prompt_cache_hit_tokens"]],
    ["wrote", row["prompt_cache_creation_tokens"]],
    ["thought", row["reasoning_tokens"]],
  ].flatMap(([word, count]) => (typeof count === "number" ? [`${text(word)} ${count}`] : []));
  return [`${text(prompt ?? 0)}+${text(completion ?? 0)}=${total}`, ...parts].join(" ");
}

function text(value: unknown): string {
  return value === null || value === undefined ? "" : `${value as string | number | boolean}`;
}

function definedOnly(summary: { [K in keyof SpanSummary]: SpanSummary[K] | undefined }): SpanSummary {
  const entries = Object.entries(summary).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return Object.fromEntries(entries) as SpanSummary;
}
