import { isRecord } from "../../lib/exact-json.ts";

/**
 * The members of a span that the panel requests. Only their own tabs request the raw request and response. For a call
 * with messages, `input` and `output` would repeat them.
 */
export const panelFields = `
  unique_id environment timestamp start_time log_type log_method model provider_id deployment_name
  organization_key_name span_name span_workflow_name trace_unique_id trace_name span_unique_id
  span_parent_id thread_identifier session_identifier trace_group_identifier customer_identifier
  customer_email customer_name custom_identifier group_identifier prompt_id prompt_name
  prompt_version_number response_id gateway_log_id status failed status_code error_message error_code
  warnings stream latency time_to_first_token tokens_per_second routing_time prompt_tokens
  completion_tokens total_tokens prompt_cache_hit_tokens prompt_cache_creation_tokens reasoning_tokens
  usage_is_estimated cost cost_source counted_cost cost_details unpriced cache_hit temperature top_p
  max_tokens frequency_penalty presence_penalty n stop tool_choice response_format positive_feedback
  note is_pinned metadata properties prompt_messages completion_message
  completion_messages reasoning tools embedding audio_input_file audio_output_file variables
  ideal_output limit_info attempts is_log_omitted span_path
`
  .trim()
  .split(/\s+/);

/**
 * A span as the API returns it. Any member may be missing or of another type than its name suggests: read it with the
 * helpers below.
 */
export type Span = Readonly<Record<string, unknown>>;

export function textOf(span: Span, member: string): string | undefined {
  const value = span[member];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(span: Span, member: string): number | undefined {
  const value = span[member];
  return typeof value === "number" ? value : undefined;
}

export function recordOf(span: Span, member: string): Record<string, unknown> {
  const value = span[member];
  return isRecord(value) ? value : {};
}

export function listOf(span: Span, member: string): unknown[] {
  const value = span[member];
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The display name of a span: its name, otherwise the model, otherwise its type. */
export function nameOf(span: Span): string {
  return textOf(span, "span_name") ?? textOf(span, "model") ?? textOf(span, "log_type") ?? "span";
}
