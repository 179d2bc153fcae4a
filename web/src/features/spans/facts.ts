import { formatDuration, formatInteger, unknown } from "../../lib/format.ts";
import { formatExactTime, type TimeZone } from "../../lib/time.ts";
import { numberOf, textOf, type Span } from "./span-record.ts";

/** A line of a list: a label and a value as text. */
export type Fact = { label: string; value: string; title?: string };

export function timingOf(span: Span, zone: TimeZone): Fact[] {
  const first = numberOf(span, "time_to_first_token");
  const routing = numberOf(span, "routing_time");
  const rate = numberOf(span, "tokens_per_second");
  return [
    { label: "Started", value: formatExactTime(textOf(span, "start_time"), zone) },
    { label: "Ended", value: formatExactTime(textOf(span, "timestamp"), zone) },
    secondsFact("Latency", numberOf(span, "latency"), "The span states no duration."),
    ...(first === undefined ? [] : [secondsFact("First token", first, "")]),
    ...(routing === undefined ? [] : [secondsFact("Routing", routing, "")]),
    ...(rate === undefined ? [] : [{ label: "Output", value: `${rate.toFixed(1)} tokens/s` }]),
  ];
}

function secondsFact(label: string, seconds: number | undefined, why: string): Fact {
  if (seconds === undefined) return { label, value: unknown, title: why };
  return { label, value: formatDuration(seconds), title: `${seconds} s` };
}

const callMembers = [
  ["Model", "model"],
  ["Provider", "provider_id"],
  ["Deployment", "deployment_name"],
  ["Type", "log_type"],
  ["Came in by", "log_method"],
  ["Workflow", "span_workflow_name"],
  ["Prompt", "prompt_name"],
  ["Prompt version", "prompt_version_number"],
  ["Key", "organization_key_name"],
  ["Streamed", "stream"],
  ["From the cache", "cache_hit"],
  ["Temperature", "temperature"],
  ["Top p", "top_p"],
  ["Max tokens", "max_tokens"],
  ["Frequency penalty", "frequency_penalty"],
  ["Presence penalty", "presence_penalty"],
  ["Answers asked for", "n"],
  ["Stop", "stop"],
  ["Tool choice", "tool_choice"],
  ["Input tokens", "prompt_tokens"],
  ["Output tokens", "completion_tokens"],
  ["Read from a cache", "prompt_cache_hit_tokens"],
  ["Written to a cache", "prompt_cache_creation_tokens"],
  ["Reasoning tokens", "reasoning_tokens"],
  ["Warnings", "warnings"],
] as const;

/** The model, parameters and usage of a call. Missing values have no line. */
export function parametersOf(span: Span): Fact[] {
  return factsOf(span, callMembers);
}

const idMembers = [
  ["Span", "unique_id"],
  ["Trace", "trace_unique_id"],
  ["Span in the trace", "span_unique_id"],
  ["Parent", "span_parent_id"],
  ["Thread", "thread_identifier"],
  ["Session", "session_identifier"],
  ["Trace group", "trace_group_identifier"],
  ["Customer", "customer_identifier"],
  ["Customer's e-mail", "customer_email"],
  ["Customer's name", "customer_name"],
  ["Custom", "custom_identifier"],
  ["Group", "group_identifier"],
  ["Response", "response_id"],
  ["Gateway's span", "gateway_log_id"],
] as const;

export function identifiersOf(span: Span): Fact[] {
  return factsOf(span, idMembers);
}

function factsOf(span: Span, members: ReadonlyArray<readonly [label: string, member: string]>): Fact[] {
  return members.flatMap(([label, member]) => {
    const value = span[member];
    return value === null || value === undefined || value === "" ? [] : [{ label, value: shown(value) }];
  });
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return Number.isInteger(value) ? formatInteger(value) : String(value);
  return JSON.stringify(value) ?? "";
}
