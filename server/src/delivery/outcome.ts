import type { Delivery } from "../domain/webhook.ts";
import type { DeliveryOutcome } from "../storage/control/delivery-store.ts";
import { deliveryLimits } from "./limits.ts";
import type { SendResult } from "./send.ts";

/** The state of a delivery after an attempt with this result. */
export function outcomeOf(delivery: Delivery, result: SendResult, nowMs: number): DeliveryOutcome {
  const nextMs = nextAttemptMs({
    attempts: delivery.attempts + 1,
    nowMs,
    endMs: Date.parse(delivery.expires_at),
    retryAfterMs: result.retryAfterMs,
    random: Math.random(),
  });
  const isPending = !result.isDelivered && nextMs !== undefined;
  return {
    id: delivery.id,
    attempts: delivery.attempts,
    status: result.isDelivered ? "delivered" : isPending ? "pending" : "failed",
    isAttempt: true,
    next_attempt_at: isPending ? new Date(nextMs).toISOString() : null,
    last_attempt_at: new Date(nowMs).toISOString(),
    response_status: result.status,
    response_body: result.body,
    error: result.error,
  };
}

/**
 * Returns a claimed delivery to the queue that was not sent, or whose attempt was aborted: due immediately, and
 * otherwise unchanged.
 */
export function putBack(delivery: Delivery, nowMs: number): DeliveryOutcome {
  const { id, attempts, last_attempt_at, response_status, response_body, error } = delivery;
  const next_attempt_at = new Date(nowMs).toISOString();
  const before = { last_attempt_at, response_status, response_body, error };
  return { id, attempts, status: "pending", isAttempt: false, next_attempt_at, ...before };
}

/**
 * When to retry after `attempts` failures, in ms since the epoch; undefined if that would be after `endMs`. The delay
 * triples each time, from seconds to hours, with jitter so that deliveries that failed together are not retried
 * together. The receiver's Retry-After is honoured within these bounds.
 */
function nextAttemptMs(options: {
  attempts: number;
  nowMs: number;
  endMs: number;
  retryAfterMs?: number | undefined;
  /** Within [0, 1). */
  random: number;
}): number | undefined {
  const { attempts, nowMs, endMs, retryAfterMs = 0, random } = options;
  const backoffMs = Math.min(
    deliveryLimits.webhookRetryMaxMs,
    deliveryLimits.webhookRetryMinMs * 3 ** Math.min(attempts - 1, 32),
  );
  const requestedMs = Math.min(deliveryLimits.webhookRetryMaxMs, retryAfterMs);
  const next = nowMs + Math.max(backoffMs * (0.8 + 0.4 * random), requestedMs);
  return next <= endMs ? next : undefined;
}
