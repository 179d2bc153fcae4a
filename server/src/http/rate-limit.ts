import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";
import type { Principal } from "../domain/principal.ts";
import { httpLimits } from "./limits.ts";

const rateLimitRules = ["bulk_create", "bulk_delete", "public_trace", "api"] as const;
export type RateLimitRule = (typeof rateLimitRules)[number];

/** Requests per minute for each rule; 0 switches a rule off. */
export type RateLimits = Record<RateLimitRule, number>;

type RateLimitSubject = {
  principal: Principal | undefined;
  ip: string;
  /** The path pattern as declared, with aliases separate, without its trailing slash. */
  path: string;
};

export type RateLimiter = {
  /** Counts one request. Returns undefined if it is allowed, else the seconds after which a retry makes sense. */
  consume(rule: RateLimitRule, subject: RateLimitSubject): Promise<number | undefined>;
};

export type RateLimiterOptions = {
  perMinute: RateLimits;
  /** A connected ioredis client, if nodes share their counts. */
  redis?: object;
  /** Called for each request that was counted in this process because Redis did not respond. */
  onStoreFailure?: (error: unknown) => void;
};

/**
 * The key that a rule counts by. An organization is one caller whatever key it uses; a person is counted separately.
 */
const keyOf: Record<RateLimitRule, (subject: RateLimitSubject) => string> = {
  bulk_create: ({ principal }) => callerKey(principal),
  bulk_delete: ({ principal, path }) => `${callerKey(principal)}:${path}`,
  public_trace: ({ ip }) => addressKey(ip),
  api: ({ principal }) => `org:${principal?.organization_id ?? ""}`,
};

/** Windows of one minute, in memory or in Redis. While Redis fails, each node counts for itself. */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const limiters = new Map<RateLimitRule, Limiter>();
  for (const rule of rateLimitRules) {
    const points = options.perMinute[rule];
    if (points > 0) limiters.set(rule, createLimiter(rule, points, options));
  }
  return {
    async consume(rule, subject) {
      return limiters.get(rule)?.(keyOf[rule](subject));
    },
  };
}

type Limiter = (key: string) => Promise<number | undefined>;

function createLimiter(rule: RateLimitRule, points: number, options: RateLimiterOptions): Limiter {
  const window = { points, duration: 60, keyPrefix: `spanway:limit:${rule}` };
  const memory = new RateLimiterMemory(window);
  if (options.redis === undefined) return (key) => consume(memory, key);
  const shared = new RateLimiterRedis({ ...window, storeClient: options.redis, rejectIfRedisNotReady: true });
  return async (key) => {
    try {
      return await withinMs(consume(shared, key), httpLimits.rateLimitStoreMs);
    } catch (error) {
      options.onStoreFailure?.(error);
      return consume(memory, key);
    }
  };
}

async function consume(limiter: RateLimiterAbstract, key: string): Promise<number | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (error) {
    if (error instanceof RateLimiterRes) return Math.max(1, Math.ceil(error.msBeforeNext / 1000));
    throw error;
  }
}

async function withinMs<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function callerKey(principal: Principal | undefined): string {
  if (principal?.kind === "user") return `user:${principal.user_id}`;
  return `org:${principal?.organization_id ?? ""}`;
}

/** One IPv6 customer owns a /64, so the first four groups are the key; IPv4-mapped IPv6 becomes IPv4. */
export function addressKey(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!ip.includes(":")) return ip;
  const [head = "", tail] = (ip.split("%")[0] ?? "").toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => "0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}
