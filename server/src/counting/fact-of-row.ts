import { gatewayLogMethod, hasContent, type SpanRow } from "../domain/span.ts";
import type { StoredFact } from "../storage/spans/usage-facts.ts";

/** The columns of an accepted row that decide what its span counts for, in the form in which the store returns them. */
export function factOfRow(row: SpanRow): StoredFact {
  return {
    environment: row.environment,
    trace_unique_id: row.trace_unique_id ?? "",
    received_at: row.received_at ?? row.timestamp,
    version: BigInt(row.version),
    unique_id: row.unique_id,
    timestamp: row.timestamp,
    start_time: row.start_time ?? row.timestamp,
    span_unique_id: row.span_unique_id ?? "",
    span_parent_id: row.span_parent_id ?? "",
    log_type: row.log_type ?? "",
    is_gateway: row.log_method === gatewayLogMethod,
    has_content: hasContent(row),
    is_failed: row.status === "failed" || Number(row.status_code ?? 0) >= 400,
    model: row.model ?? "",
    response_id: row.response_id ?? "",
    gateway_log_id: row.gateway_log_id ?? "",
    scope_name: row.scope_name ?? "",
    prompt_tokens: numberOf(row.prompt_tokens),
    completion_tokens: numberOf(row.completion_tokens),
    total_tokens: numberOf(row.total_tokens),
    cost: row.cost ?? null,
    is_stated: row.cost_source === "stated",
    customer_identifier: row.customer_identifier ?? "",
    thread_identifier: row.thread_identifier ?? "",
  };
}

function numberOf(value: number | string | null | undefined): number | null {
  return value === undefined || value === null ? null : Number(value);
}
