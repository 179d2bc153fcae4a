import { deliveryLimits } from "./limits.ts";

/**
 * When to retry after `attempts` failures, in ms since the epoch; undefined if that would be after `endMs`. The delay
 * triples each time, from seconds to hours, with jitter so that deliveries that failed together are not retried
 * together. The receiver's Retry-After is honoured within these bounds.
 */
export function nextAttemptMs(options: {
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
