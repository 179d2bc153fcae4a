import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import { judge, readRetryPolicy, retryDelayMs } from "./retry.ts";

const problem = (kind: UpstreamProblem["kind"], status: number, retryAfterMs?: number): UpstreamProblem => ({
  kind,
  status,
  message: "no",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

describe("the policy", () => {
  test.each([
    [{}, { retries: 2, baseMs: 200 }],
    [{ retries: 0 }, { retries: 0, baseMs: 200 }],
    [{ retries: 5 }, { retries: 5, baseMs: 200 }],
    [{ retry_params: { retry_enabled: true } }, { retries: 3, baseMs: 200 }],
    [{ retry_params: { retry_enabled: false, num_retries: 4 } }, { retries: 0, baseMs: 200 }],
    [
      { retry_params: { retry_enabled: true, num_retries: 4, retry_after: 1.5 }, retries: 9 },
      { retries: 4, baseMs: 1500 },
    ],
  ])("of %j is %j", (params, policy) => {
    expect(readRetryPolicy(params)).toEqual(policy);
  });
});

test.each([
  ["request", 400, "other_model"],
  ["request", 422, "other_model"],
  ["request", 404, "other_model"],
  ["credential", 401, "other_credential"],
  ["credential", 400, "other_credential"],
  ["busy", 429, "retry"],
  ["busy", 529, "retry"],
  ["fault", 0, "retry"],
  ["fault", 200, "retry"],
  ["fault", 500, "retry"],
  ["fault", 302, "other_model"],
  ["fault", 418, "other_model"],
] as const)("%s %i means %s", (kind, status, verdict) => {
  expect(judge(problem(kind, status))).toBe(verdict);
});

describe("the delay", () => {
  const policy = { retries: 3, baseMs: 200 };

  test.each([
    [0, 1_000, 0, 1_000],
    [0, 2_000, 0.5, 2_100],
    [0, 0, 0.9, 0],
    [0, gatewayLimits.retryWaitMs, 0.9, gatewayLimits.retryWaitMs],
    [0, gatewayLimits.retryWaitMs + 1, 0, undefined],
    [0, 3_600_000, 0, undefined],
    // Implausible or negative values are ignored.
    [0, 1e15, 0, 100],
    [0, Number.POSITIVE_INFINITY, 0, 100],
    [0, Number.NaN, 0, 100],
    [0, -1_000, 0, 100],
    [0, undefined, 0, 100],
    [0, undefined, 0.5, 150],
    [3, undefined, 0, 800],
    [99, undefined, 0, gatewayLimits.retryWaitMs / 2],
  ])("before retry %i, with a requested wait of %s ms and a draw of %d, is %s", (n, requestedMs, draw, delayMs) => {
    expect(retryDelayMs(policy, n, problem("busy", 429, requestedMs), () => draw)).toBe(delayMs);
  });

  test("is never below the requested wait and never above the cap", () => {
    const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(1_000), fc.option(fc.double(), { nil: undefined }), draws, (n, requestedMs, draw) => {
        const delayMs = retryDelayMs(policy, n, problem("busy", 429, requestedMs), () => draw) ?? 0;
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(gatewayLimits.retryWaitMs);
        const isFair =
          requestedMs === undefined ||
          !(requestedMs >= 0 && requestedMs <= gatewayLimits.retryWaitMs) ||
          delayMs >= requestedMs;
        expect(isFair).toBe(true);
      }),
    );
  });
});
