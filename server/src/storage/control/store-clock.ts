import type { Logger } from "pino";
import { storageLimits } from "../limits.ts";

/** The message says what an operator can do. */
export class ClockError extends Error {}

/**
 * The control store's clock, which all nodes share, so that their times are comparable. It is this machine's clock
 * minus its skew, which is measured at the start and once a minute.
 */
export type StoreClock = {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How far this machine's clock is ahead, negative if behind. 0 if the control store is on this machine. */
  skewMs(): number;
  /** Whether the skew is small enough for this node to do work that only one node does. */
  mayLead(): boolean;
  /** Whether the skew is too large to correct. */
  isRefused(): boolean;
  /** Measures now and then periodically. @throws ClockError if the first measurement is refused */
  start(): Promise<void>;
  stop(): void;
};

export type StoreClockDeps = {
  /** Milliseconds since the epoch by the control store; undefined if it has no clock of its own. */
  readStoreTime: (() => Promise<number>) | undefined;
  /** This machine's clock. */
  ownNow: () => number;
  logger: Logger;
};

export function createStoreClock({ readStoreTime, ownNow, logger }: StoreClockDeps): StoreClock {
  let skewMs = 0;
  let appliedMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const isRefused = (): boolean => Math.abs(skewMs) > storageLimits.clockSkewMaxMs;
  const measure = async (readTime: () => Promise<number>): Promise<void> => {
    skewMs = await leastUncertain(readTime, ownNow);
    // Small differences come from the network: following them would only make times jitter.
    if (Math.abs(skewMs - appliedMs) >= storageLimits.clockSlackMs) appliedMs = skewMs;
    const fields = { skew_seconds: skewMs / 1000 };
    if (isRefused()) logger.error(fields, describeSkew(skewMs));
    else if (Math.abs(skewMs) >= storageLimits.clockSkewWarnMs) logger.warn(fields, describeSkew(skewMs));
  };
  return {
    now: () => ownNow() - appliedMs,
    skewMs: () => skewMs,
    mayLead: () => Math.abs(skewMs) < storageLimits.clockSkewLeadMs,
    isRefused,
    async start() {
      if (readStoreTime === undefined) return;
      await measure(readStoreTime);
      if (isRefused()) throw new ClockError(describeSkew(skewMs));
      timer = setInterval(() => {
        measure(readStoreTime).catch((error: unknown) =>
          logger.warn({ err: error }, "the clock of the control store could not be read; the last measurement holds"),
        );
      }, storageLimits.clockMeasureEveryMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}

function describeSkew(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const most = storageLimits.clockSkewMaxMs / 60_000;
  return (
    `The clock of this machine is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the control store's. Set both by NTP. ` +
    `A node works with up to ${most} minutes.`
  );
}

/** Of a few measurements, the one with the shortest round trip is the most accurate. */
async function leastUncertain(readTime: () => Promise<number>, ownNow: () => number): Promise<number> {
  let [least, skewMs] = [Number.POSITIVE_INFINITY, 0];
  for (let n = 0; n < questions; n += 1) {
    const before = ownNow();
    const storeMs = await readTime();
    const after = ownNow();
    if (after - before < least) [least, skewMs] = [after - before, (before + after) / 2 - storeMs];
  }
  return Math.round(skewMs);
}

const questions = 3;
