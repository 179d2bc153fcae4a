import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";
import { customerKeyText, type CustomerKey } from "../domain/customer.ts";
import { httpLimits } from "../http/limits.ts";

/** Counts the calls of customers in windows of one minute, in memory or in Redis. */
export type CallRates = {
  /** Counts one call. Undefined if it may pass, otherwise the seconds after which a retry makes sense. */
  count(key: CustomerKey, perMinute: number): Promise<number | undefined>;
  /** Takes back the count of a call that was refused for another reason. */
  uncount(key: CustomerKey): Promise<void>;
};

// The limit differs by customer: the limiter only counts, and the count is compared here.
const window = { points: Number.MAX_SAFE_INTEGER, duration: 60, keyPrefix: "spanway:customer" };

/** @param onStoreFailure called for each call that this node counted in memory because Redis was unavailable */
export function createCallRates(options: { redis?: object | undefined; onStoreFailure: () => void }): CallRates {
  const memory = new RateLimiterMemory(window);
  const shared =
    options.redis && new RateLimiterRedis({ ...window, storeClient: options.redis, rejectIfRedisNotReady: true });
  const change = async <T>(apply: (limiter: RateLimiterAbstract) => Promise<T>): Promise<T> => {
    if (shared === undefined) return apply(memory);
    try {
      const timeout = AbortSignal.timeout(httpLimits.rateLimitStoreMs);
      const late = new Promise<never>((_resolve, reject) =>
        timeout.addEventListener("abort", () => reject(new Error("no answer in time"))),
      );
      return await Promise.race([apply(shared), late]);
    } catch {
      options.onStoreFailure();
      return apply(memory);
    }
  };
  return {
    async count(key, perMinute) {
      const { consumedPoints, msBeforeNext } = await change((limiter) => consumed(limiter, customerKeyText(key)));
      return consumedPoints <= perMinute ? undefined : Math.max(1, Math.ceil(msBeforeNext / 1000));
    },
    async uncount(key) {
      await change((limiter) => limiter.reward(customerKeyText(key)));
    },
  };
}

async function consumed(limiter: RateLimiterAbstract, key: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key);
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return refused;
    throw refused;
  }
}
