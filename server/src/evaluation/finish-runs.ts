import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { evaluationLimits } from "./limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import { micro, type RunResult } from "./run-evaluation.ts";

export type FinisherDeps = {
  stores: Pick<ControlStores, "transaction">;
  retryDelaysMs: readonly number[];
  /** Called once results are stored. */
  finished: (results: readonly RunResult[]) => void;
  /** The number of runs in flight, including those whose results wait here. */
  inFlight: () => number;
  logger: Logger;
  /** Aborted when the server stops: from then on, each result is tried once. */
  signal: AbortSignal;
  now: () => number;
};

/**
 * Stores results, many in one transaction: scores, ends of runs, costs of judges. A run ends in the transaction that
 * stores its score, so that neither a crash nor another node makes a second score.
 */
export function createFinisher(deps: FinisherDeps): { add(result: RunResult): void; settled(): Promise<void> } {
  const waiting: RunResult[] = [];
  let flushing: Promise<void> | undefined;
  let wake = (): void => undefined;

  /**
   * Each transaction is flushed to disk, so results are batched: until there are enough, no more are in flight, or the
   * time is up.
   */
  const collect = async (): Promise<void> => {
    if (isEnough()) return;
    const timer = setTimeout(() => wake(), evaluationLimits.evaluationFlushMs);
    await new Promise<void>((resolve) => (wake = resolve));
    clearTimeout(timer);
  };
  const isEnough = () => waiting.length >= Math.min(evaluationLimits.evaluationFlushRows, deps.inFlight());

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await collect();
      const results = waiting.splice(0, evaluationLimits.evaluationFlushRows);
      try {
        await deps.stores.transaction((set) => record(deps, set, results));
        deps.finished(results);
      } catch (error) {
        // Results that are not stored are evaluated again after the next start.
        if (deps.signal.aborted) return;
        deps.logger.warn({ err: error }, "results of evaluations could not be stored; retrying");
        waiting.unshift(...results);
        await sleep(evaluationLimits.evaluationPollMs);
      }
    }
    flushing = undefined;
  };

  return {
    add(result) {
      waiting.push(result);
      flushing ??= flush();
      if (isEnough()) wake();
    },
    settled: async () => {
      await flushing;
    },
  };
}

async function record(deps: FinisherDeps, set: ControlStoreSet, results: readonly RunResult[]): Promise<void> {
  const nowMs = deps.now();
  const scores = results.flatMap((result) =>
    result.kind === "scored" || result.kind === "failed" ? [result.score] : [],
  );
  await set.scores.add(scores, nowMs);
  await set.evaluationRuns.finish(results.flatMap(({ kind, run }) => (kind === "retried" ? [] : [run.id])));
  for (const result of results) {
    if (result.kind !== "retried") continue;
    const { run, isRefused } = result;
    const delayMs = deps.retryDelaysMs[run.attempts - 1] ?? deps.retryDelaysMs.at(-1) ?? 0;
    await set.evaluationRuns.retry(run, new Date(nowMs + delayMs).toISOString(), isRefused);
  }
  await set.judgementLedger.settle(
    results.map(({ run, costUsd }) => ({ runId: run.id, attempt: run.attempts, microUsd: micro(costUsd ?? 0) })),
  );
  for (const [automationId, group] of Map.groupBy(results, ({ run }) => run.automation_id)) {
    const error = group.findLast((result) => result.error !== undefined)?.error;
    if (error !== undefined) await set.automations.noteError(automationId, error, new Date(nowMs).toISOString());
  }
}
