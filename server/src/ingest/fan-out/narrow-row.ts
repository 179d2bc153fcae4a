import { hasContent, type SpanRow } from "../../domain/span.ts";

/**
 * Reduces a span for subscribers that do not read content: identity, times, customer and usage. `output` only shows
 * whether the span has content. Rows wait in memory until they are stored, and most of a row is content.
 */
export function narrowRow(row: SpanRow): SpanRow {
  const narrow: { [C in keyof SpanRow]: SpanRow[C] | undefined } = {
    organization_id: row.organization_id,
    environment: row.environment,
    timestamp: row.timestamp,
    unique_id: row.unique_id,
    version: row.version,
    start_time: row.start_time,
    received_at: row.received_at,
    log_type: row.log_type,
    log_method: row.log_method,
    model: row.model,
    trace_unique_id: row.trace_unique_id,
    span_unique_id: row.span_unique_id,
    span_parent_id: row.span_parent_id,
    thread_identifier: row.thread_identifier,
    customer_identifier: row.customer_identifier,
    customer_email: row.customer_email,
    customer_name: row.customer_name,
    response_id: row.response_id,
    gateway_log_id: row.gateway_log_id,
    scope_name: row.scope_name,
    status: row.status,
    status_code: row.status_code,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    total_tokens: row.total_tokens,
    cost: row.cost,
    cost_source: row.cost_source,
    output: hasContent(row) ? "…" : undefined,
  };
  return narrow as SpanRow;
}
