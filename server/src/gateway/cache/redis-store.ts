import { promisify } from "node:util";
import { constants, gunzip, gzip, gzipSync } from "node:zlib";
import type { ByteBox } from "../../auth/sealed-box.ts";
import { isObject } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";
import type { AnswerStore, FoundAnswer, CachedAnswer } from "./answer-store.ts";

/** The commands used of a connected ioredis client. */
export type RedisCommands = {
  mgetBuffer(...keys: string[]): Promise<Array<Buffer | null>>;
  set(key: string, value: Buffer, expiry: "PX", ms: number): Promise<unknown>;
};

export type RedisStoreOptions = {
  redis: RedisCommands;
  /**
   * Seals the answers: readers of Redis, its replicas or its dumps learn only sizes and times. Each answer opens only
   * under its own key, a digest that includes the organization (`answerKey`).
   */
  box: ByteBox;
  /** Called each time that Redis failed, was late, or returned something unreadable. */
  onFailure: () => void;
  /** Called for each answer that was not stored because too many are on their way to Redis. */
  onSkip: () => void;
};

const prefix = "spanway:answer:2:";
const compress = promisify(gzip);
const fast = { level: constants.Z_BEST_SPEED };
/**
 * Up to this size the answer is compressed synchronously, so that the next request on this connection comes after it.
 * Most answers are small.
 */
const smallBytes = 16 * 1024;
const decompress = promisify(gunzip);

/** Answers that all nodes share. If Redis is slow or unavailable, there is no answer, after a short wait. */
export function createRedisStore({ redis, box, onFailure, onSkip }: RedisStoreOptions): AnswerStore {
  // The client keeps commands to a hanging Redis until the connection breaks, so it needs limits.
  let readsUnderWay = 0;
  let bytesUnderWay = 0;

  const read = async (keys: readonly string[]): Promise<Array<Buffer | null>> => {
    readsUnderWay += 1;
    try {
      return await redis.mgetBuffer(...keys.map((key) => prefix + key));
    } finally {
      readsUnderWay -= 1;
    }
  };
  const write = async (key: string, answer: CachedAnswer, ttlMs: number): Promise<void> => {
    const { length } = answer.body;
    bytesUnderWay += length;
    try {
      const value = length <= smallBytes ? gzipSync(encode(answer), fast) : await compress(encode(answer), fast);
      await redis.set(prefix + key, box.seal(value, [key]), "PX", Math.max(1, Math.floor(ttlMs)));
    } finally {
      bytesUnderWay -= length;
    }
  };

  return {
    async find(keys, sinceMs) {
      if (readsUnderWay >= gatewayLimits.cacheReadsInFlight) {
        onFailure();
        return undefined;
      }
      try {
        return await firstOf(box, keys, await inTime(read(keys)), sinceMs);
      } catch {
        onFailure();
        return undefined;
      }
    },
    keep(key, answer, ttlMs) {
      if (bytesUnderWay + answer.body.length > gatewayLimits.cacheWriteBytesInFlight) return onSkip();
      write(key, answer, ttlMs).catch(onFailure);
      return undefined;
    },
  };
}

async function firstOf(
  box: ByteBox,
  keys: readonly string[],
  values: ReadonlyArray<Buffer | null>,
  sinceMs: number,
): Promise<FoundAnswer | undefined> {
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (value === null || value === undefined) continue;
    const opened = box.open(value, [key]);
    if (opened === undefined) throw new Error("not sealed by us, or not for this key");
    const answer = await decode(opened);
    if (answer.keptAtMs >= sinceMs) return { key, answer };
  }
  return undefined;
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), gatewayLimits.cacheReadMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const newline = 0x0a;

/** One line of JSON about the answer's origin, then the body. */
function encode({ body, ...head }: CachedAnswer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** Room beyond the body: names of a model and a provider, and of parameters. */
const headBytes = 64 * 1024;

async function decode(value: Buffer): Promise<CachedAnswer> {
  const bytes = await decompress(value, { maxOutputLength: gatewayLimits.cacheEntryBytes + headBytes });
  const end = bytes.indexOf(newline);
  const head: unknown = JSON.parse(bytes.toString("utf8", 0, end));
  if (!isObject(head)) throw new Error("not an answer that was kept");
  const { provider, model, adjusted, keptAtMs } = head;
  if (typeof provider !== "string" || typeof model !== "string" || typeof keptAtMs !== "number") {
    throw new TypeError("not an answer that was kept");
  }
  const names = Array.isArray(adjusted) ? (adjusted as unknown[]).filter((name) => typeof name === "string") : [];
  return { body: bytes.subarray(end + 1), provider, model, adjusted: names, keptAtMs };
}
