import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { storageLimits } from "../limits.ts";
import type { ControlMetrics } from "../../telemetry/store-metrics.ts";

/** Data that may be served from memory while the control store does not respond. */
export type StaleKind = "key" | "provider_settings" | "customer" | "budget";

/**
 * Watches whether the control store responds. During an outage, values read before are served for `staleMs`. Only a
 * failed ping is an outage; a failed statement is not.
 */
export type ControlWatch = {
  isDown(): boolean;
  /** 0 while it responds. */
  downMs(): number;
  /** Whether values from memory may be served now. */
  mayServeStale(): boolean;
  /** Pings now. Resolves to `isDown`. */
  check(): Promise<boolean>;
  /** Waits for work of the store. Undefined once the store is down; the work may still complete. */
  whileUp<T>(work: Promise<T>): Promise<{ value: T } | undefined>;
  /** The result of `read`; that of `stale` if `read` fails or is late, and immediately during an outage. */
  orStale<T>(kind: StaleKind, read: () => Promise<T>, stale: (() => T) | undefined): Promise<T>;
  /** Counts a value served from memory. */
  served(kind: StaleKind): void;
  stop(): void;
};

export type ControlWatchDeps = {
  ping: () => Promise<void>;
  staleMs: number;
  metrics: ControlMetrics;
  logger: Logger;
  pingEveryMs?: number;
  patienceMs?: number;
};

export function watchControl(deps: ControlWatchDeps): ControlWatch {
  const { ping, staleMs, metrics, logger, pingEveryMs = storageLimits.controlPingEveryMs } = deps;
  const patienceMs = deps.patienceMs ?? storageLimits.controlPatienceMs;
  let downSinceMs: number | undefined;
  let isOver = false;
  let checking: Promise<boolean> | undefined;

  const downMs = (): number => (downSinceMs === undefined ? 0 : performance.now() - downSinceMs);
  const isDown = (): boolean => downSinceMs !== undefined;
  const mayServeStale = (): boolean => staleMs > 0 && downMs() < staleMs;
  const answered = (): void => {
    if (downSinceMs === undefined) return;
    logger.info({ seconds: Math.round(downMs() / 1000) }, "the control store answers again");
    [downSinceMs, isOver] = [undefined, false];
  };
  const unanswered = (error: unknown): void => {
    const fields = { err: error, stale_seconds: staleMs / 1000 };
    if (downSinceMs === undefined) {
      downSinceMs = performance.now();
      logger.warn(fields, `the control store does not answer; ${whatIsStale} are used as last known`);
    } else if (!isOver && !mayServeStale()) {
      isOver = true;
      logger.error(
        fields,
        `the control store has not answered for too long; ${whatIsStale} are no longer used as last known`,
      );
    }
  };
  const within = <T>(work: Promise<T>) => inTime(work, patienceMs);
  const checkNow = async (): Promise<boolean> => {
    try {
      if ((await within(pingAgain(ping))) === undefined) throw new Error(`no answer within ${patienceMs} ms`);
      answered();
    } catch (error) {
      unanswered(error);
    }
    return isDown();
  };
  const check = (): Promise<boolean> => (checking ??= checkNow().finally(() => (checking = undefined)));
  const whileUp: ControlWatch["whileUp"] = async (work) => {
    for (;;) {
      const done = await within(work);
      if (done !== undefined) return done;
      if (await check()) return undefined;
    }
  };
  const timer = setInterval(() => void check(), pingEveryMs).unref();
  metrics.watchDown(() => downMs() / 1000);
  const served = (kind: StaleKind): void => metrics.stale.inc({ kind });

  return {
    isDown,
    downMs,
    mayServeStale,
    check,
    served,
    whileUp,
    async orStale(kind, read, stale) {
      const fallback = () => {
        if (stale === undefined || !mayServeStale()) return undefined;
        served(kind);
        return { value: stale() };
      };
      const atOnce = isDown() ? fallback() : undefined;
      if (atOnce !== undefined) return atOnce.value;
      const reading = read();
      let failure: unknown = new Error("the control store does not answer");
      try {
        const done = (await within(reading)) ?? fallback() ?? (await whileUp(reading));
        if (done !== undefined) return done.value;
      } catch (error) {
        failure = error;
        void check();
      }
      const late = fallback();
      if (late === undefined) throw failure;
      return late.value;
    },
    stop: () => clearInterval(timer),
  };
}

const whatIsStale = "keys, provider settings and budgets";

/** A dropped connection is not an outage: a failed ping is retried on other connections. */
async function pingAgain(ping: () => Promise<void>): Promise<void> {
  for (let left = pingTries; ; left -= 1) {
    try {
      return await ping();
    } catch (error) {
      if (left === 1) throw error;
      await sleep(pingPauseMs, undefined, { ref: false });
    }
  }
}

const pingTries = 3;
const pingPauseMs = 100;

/**
 * Undefined if it takes longer. While the process was suspended or starved, responses arrived that it has not read yet:
 * such a time counts as one slice at most.
 */
async function inTime<T>(work: Promise<T>, patienceMs: number): Promise<{ value: T } | undefined> {
  const done = work.then((value) => ({ value }));
  for (let slice = 0; slice < patienceSlices; slice += 1) {
    const first = await Promise.race([done, sleep(patienceMs / patienceSlices, undefined, { ref: false })]);
    if (first !== undefined) return first;
  }
  return undefined;
}

const patienceSlices = 10;
