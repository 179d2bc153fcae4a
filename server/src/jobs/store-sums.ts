import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { jobsLimits } from "./limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { SumsDay, SumsPass, SumsTiming } from "../storage/spans/span-sums.ts";
import { scheduleJob, type Schedule } from "./schedule.ts";

export type SumsDeps = {
  spans: Pick<
    SpanStore,
    "planSums" | "acquireSumsLease" | "listDueSums" | "buildSums" | "finishSums" | "readSumsState"
  >;
  /** Whether the tables exist. */
  isReady: () => boolean;
  /** Whether other nodes may build too, and replicas may lag. */
  isShared: boolean;
  /** Called after each round: how far the sums are behind the stored spans, and whether a pass was finished. */
  onRound: (round: { behindMs: number; slots: number; isFinished: boolean }) => void;
  logger: Logger;
  timing?: SumsTiming;
  retryMs?: number;
};

/**
 * Keeps the stored sums current (docs/adr/0033-sums-are-stored-up-to-a-watermark.md), one portion after another with
 * pauses, so that ingest and queries have most of the machine meanwhile. An interrupted pass simply starts again; a statement that fails is retried first.
 */
export function startStoredSums(deps: SumsDeps): Schedule {
  const node = randomUUID();
  return scheduleJob({ name: "stored sums", everyMs: jobsLimits.sumsEveryMs, logger: deps.logger }, (signal) =>
    storeSums(deps, node, signal),
  );
}

const inLimits: SumsTiming = { marginMs: jobsLimits.sumsMarginMs, openMs: jobsLimits.sumsOpenMs };

export async function storeSums(deps: SumsDeps, node: string, signal: AbortSignal): Promise<void> {
  const { spans, isShared, timing = inLimits } = deps;
  const isOurs = async () => !isShared || (await spans.acquireSumsLease(node, jobsLimits.sumsLeaseMs));
  const report = async (round: { slots: number; isFinished: boolean }): Promise<void> => {
    const { watermarkMs, nowMs } = await spans.readSumsState(signal);
    deps.onRound({ behindMs: nowMs - watermarkMs, ...round });
  };
  if (!deps.isReady()) return;
  // Also on nodes that do not build, whose figure would otherwise be that of their last lease.
  if (!(await isOurs())) return await report({ slots: 0, isFinished: false });
  const plan = await spans.planSums(timing, signal);
  let slots = 0;
  if (plan.kind === "pass") {
    for (const day of plan.days) {
      const built = await buildDay(deps, plan.pass, day, { isOurs, signal });
      if (built === undefined) return await report({ slots, isFinished: false });
      slots += built;
    }
    // By then, replicas have what the pass built.
    if (isShared) await sleep(timing.marginMs, undefined, { signal, ref: false });
    await spans.finishSums(plan.pass);
  }
  await report({ slots, isFinished: plan.kind === "pass" });
}

/** @returns the number of slots; undefined if another node has taken over */
async function buildDay(
  { spans, retryMs = jobsLimits.sumsRetryMs }: SumsDeps,
  pass: SumsPass,
  day: SumsDay,
  { isOurs, signal }: { isOurs: () => Promise<boolean>; signal: AbortSignal },
): Promise<number | undefined> {
  const portion = { rows: jobsLimits.sumsPortionRows, slotRows: jobsLimits.sumsSlotRows };
  const portions = await retrying(() => spans.listDueSums(pass, day, portion, signal), { retryMs, signal });
  for (const due of portions) {
    if (!(await isOurs())) return undefined;
    const beganMs = performance.now();
    await retrying(() => spans.buildSums(pass, day.organization_id, due, signal), { retryMs, signal });
    const tookMs = performance.now() - beganMs;
    await sleep(tookMs * (1 / jobsLimits.sumsBusyShare - 1), undefined, { signal, ref: false });
  }
  return portions.flatMap(({ slots }) => slots).length;
}

/** Retries a statement that failed: to begin the pass again, which may have taken hours so far, would cost more. */
async function retrying<T>(
  work: () => Promise<T>,
  { retryMs, signal }: { retryMs: number; signal: AbortSignal },
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (attempt === jobsLimits.sumsAttempts) throw error;
    }
    await sleep(retryMs, undefined, { signal, ref: false });
  }
}
