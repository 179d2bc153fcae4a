import type { CallLedger } from "./call-ledger.ts";
import { readUsageObject } from "../../pricing/usage-object.ts";
import { secondsOf } from "../../lib/time.ts";

/**
 * The `request_breakdown` of a response: what the span records, sent to the caller right away. Times are in seconds,
 * cost is in USD.
 */
export function breakdownOf(
  ledger: CallLedger,
  { costUsd, elapsedMs }: { costUsd: number | null; elapsedMs: number },
): Record<string, unknown> {
  const usage = ledger.usage && readUsageObject(ledger.usage);
  return {
    prompt_tokens: usage?.input ?? null,
    completion_tokens: usage?.output ?? null,
    cost: ledger.isCached ? 0 : costUsd,
    prompt_messages: ledger.request["messages"] ?? [],
    completion_message: ledger.messages[0] ?? null,
    model: ledger.model,
    cached: ledger.isCached,
    timestamp: new Date(ledger.startedAtMs + elapsedMs).toISOString(),
    status_code: 200,
    stream: ledger.stream,
    latency: secondsOf(elapsedMs),
    scores: {},
    category: "",
    metadata: ledger.params.metadata ?? {},
    routing_time: secondsOf(ledger.routedMs ?? 0),
    full_request: ledger.request,
    sentiment_score: 0,
  };
}
