import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "./config.ts";
import type { Score } from "./domain/score.ts";
import type { SpanRow } from "./domain/span.ts";
import { createActiveAutomations } from "./evaluation/active-automations.ts";
import { createRunQueue } from "./evaluation/enqueue-runs.ts";
import { createEvaluate } from "./evaluation/evaluate.ts";
import type { Evaluation } from "./evaluation/evaluation.ts";
import type { JudgeModel } from "./evaluation/judge.ts";
import { startRunner, type Runner } from "./evaluation/runner.ts";
import { createSandbox } from "./evaluation/sandbox/sandbox-pool.ts";
import { startScoreMirror } from "./evaluation/score-mirror.ts";
import type { Catalogue } from "./filter/catalogue.ts";
import type { SpanSubscriber } from "./ingest/fan-out.ts";
import { scheduleJob } from "./jobs/schedule.ts";
import { limits } from "./limits.ts";
import type { ControlStores } from "./storage/control/control-stores.ts";
import { readNodeId } from "./storage/journal/node-id.ts";
import type { SpanStore } from "./storage/spans/span-store.ts";
import { createEvaluationMetrics } from "./telemetry/evaluation-metrics.ts";

export type EvaluationParts = {
  config: Pick<Config, "dataDir" | "automationDailyBudget">;
  stores: ControlStores;
  spans: SpanStore;
  catalogue: Catalogue<SpanRow>;
  registry: Registry;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
  /** How models are called. */
  judge: JudgeModel;
  /** Takes new scores over, at least once each. */
  publish?: (scores: readonly Score[]) => Promise<void>;
};

/** Conditions, automations and their evaluators, at work on what is stored. */
export async function composeEvaluation(parts: EvaluationParts): Promise<Evaluation & { subscriber: SpanSubscriber }> {
  const { config, stores, spans, catalogue, registry, logger, cleanup, now } = parts;
  const { judge, publish = nobody } = parts;
  const nodeId = readNodeId(join(config.dataDir, "node.id"));
  const metrics = createEvaluationMetrics(registry, () =>
    stores.evaluationRuns.pending(limits.evaluationBacklogCounted),
  );
  const activeAutomations = createActiveAutomations({
    automations: stores.automations,
    catalogue,
    onUnreadable: (automationId, error) => logger.error({ err: error, automationId }, "a condition is unreadable"),
  });
  await activeAutomations.refresh();

  const scoreMirror = startScoreMirror({
    scores: stores.scores,
    stores,
    spans,
    publish,
    logger,
    nodeId,
    onFailure: () => metrics.mirrorFailures.inc(),
  });
  cleanup.push(() => scoreMirror.stop());
  const sandbox = createSandbox({
    threads: Math.max(1, Math.min(limits.sandboxThreads, availableParallelism() - 1)),
    queued: limits.sandboxQueued,
    timeMs: limits.sandboxMs,
    graceMs: limits.sandboxGraceMs,
    memoryBytes: limits.sandboxMemoryBytes,
    stackBytes: limits.sandboxStackBytes,
    resultChars: limits.scoreTextChars,
    onOutcome: (outcome) => metrics.sandboxRuns.inc({ outcome }),
  });
  cleanup.push(() => sandbox.stop());
  const evaluate = createEvaluate({ sandbox, judge });
  const runner = await startRunner({
    stores,
    spans,
    activeAutomations,
    evaluate,
    logger,
    owner: nodeId,
    now,
    dailyBudgetUsd: config.automationDailyBudget,
    retryDelaysMs: limits.evaluationRetryMs,
    finished: (result) => {
      metrics.evaluations.inc({ outcome: result.kind });
      if (result.kind === "scored" || result.kind === "failed") scoreMirror.poke();
    },
  });
  cleanup.push(() => runner.stop());
  scheduleUpkeep(parts, activeAutomations);
  return { activeAutomations, scoreMirror, evaluate, subscriber: subscriberOf(parts, activeAutomations, runner) };
}

const nobody = () => Promise.resolve();

function subscriberOf(
  { stores, now }: EvaluationParts,
  activeAutomations: Evaluation["activeAutomations"],
  runner: Runner,
): SpanSubscriber {
  return createRunQueue({ activeAutomations, stores, poke: (added) => runner.poke(added), now });
}

/** Learns what other nodes changed, and forgets what is long done. */
function scheduleUpkeep(
  { stores, logger, cleanup, now }: EvaluationParts,
  activeAutomations: Evaluation["activeAutomations"],
): void {
  const refresh = scheduleJob({ name: "automations", everyMs: limits.automationRefreshMs, logger }, () =>
    activeAutomations.refresh(),
  );
  cleanup.push(() => refresh.stop());
  const forget = scheduleJob({ name: "evaluation memory", everyMs: limits.retentionEveryMs, logger }, () =>
    stores.evaluationRuns.forget(new Date(now() - limits.evaluationMemoryMs).toISOString()),
  );
  cleanup.push(() => forget.stop());
}
