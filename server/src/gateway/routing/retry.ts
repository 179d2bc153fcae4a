import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { RoutingParams } from "./plan.ts";

/** `retries`: attempts of each model after its first. `baseMs`: the delay before the first retry. */
export type RetryPolicy = { retries: number; baseMs: number };

const baseMs = 200;
const retriesWhereEnabled = 3;
/** No rate limit of a model takes more than a day to reset: a longer wait is a mistake. */
const absurdWaitMs = 24 * 60 * 60 * 1_000;

/** `retry_params` win over the shorthand `retries`; without either there are `gatewayLimits.defaultRetries`. */
export function readRetryPolicy(params: Pick<RoutingParams, "retry_params" | "retries">): RetryPolicy {
  const { retry_params, retries } = params;
  if (retry_params === undefined) return { retries: retries ?? gatewayLimits.defaultRetries, baseMs };
  if (!retry_params.retry_enabled) return { retries: 0, baseMs };
  return {
    retries: retry_params.num_retries ?? retriesWhereEnabled,
    baseMs: retry_params.retry_after === undefined ? baseMs : retry_params.retry_after * 1_000,
  };
}

/**
 * What to do about a problem:
 * - `other_credential`: our credential is the cause; try the same model with the next credential, else the next model.
 * - `retry`: try the same model again, later or with another credential, then the next model.
 * - `other_model`: this model will not answer, but one with a larger context, another filter or other parameters may.
 */
export type Verdict = "other_credential" | "retry" | "other_model";

export function judge(problem: UpstreamProblem): Verdict {
  switch (problem.kind) {
    case "credential":
      return "other_credential";
    case "busy":
      return "retry";
    case "fault":
      return isTransient(problem.status) ? "retry" : "other_model";
    case "request":
      return ofAnotherKey.has(problem.code ?? "") ? "other_credential" : "other_model";
    default:
      return "other_model";
  }
}

/** Errors about a response, or encrypted reasoning, that another key created. */
const ofAnotherKey: ReadonlySet<string> = new Set(["previous_response_not_found", "invalid_encrypted_content"]);

/** No status (0) is a network fault; 2xx is an error within a stream or a body. */
function isTransient(status: number): boolean {
  return status < 300 || status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Milliseconds before retry `n` (from 0) of a model: the wait that the upstream requested plus up to a tenth, so that
 * calls that were refused together do not return together; else an exponential back-off, between half and all of its
 * value. At most `gatewayLimits.retryWaitMs`; undefined if the upstream requests more than that. Negative and
 * implausibly long waits are ignored.
 * @param random at least 0, below 1
 */
export function retryDelayMs(
  policy: RetryPolicy,
  n: number,
  problem: UpstreamProblem,
  random: () => number,
): number | undefined {
  const maxMs = gatewayLimits.retryWaitMs;
  const requestedMs = problem.retryAfterMs;
  if (requestedMs !== undefined && requestedMs >= 0 && requestedMs <= absurdWaitMs) {
    return requestedMs > maxMs ? undefined : Math.min(maxMs, requestedMs * (1 + random() / 10));
  }
  const fullMs = Math.min(maxMs, policy.baseMs * 2 ** Math.min(n, 30));
  return fullMs * (0.5 + random() / 2);
}
