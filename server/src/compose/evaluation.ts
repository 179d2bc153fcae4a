import type { FairGate } from "../lib/fair-gate.ts";
import type { SharedLimit, WatchLimits } from "../lib/fair-share.ts";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import type { Score } from "../domain/score.ts";
import type { SpanRow } from "../domain/span.ts";
import { createActiveAutomations, createRunQueue, type ActiveAutomations } from "../evaluation/active-automations.ts";
import { createSentScores } from "../evaluation/sent-scores.ts";
import { createEvaluate, createJudgeGate } from "../evaluation/evaluate.ts";
import type { Evaluation } from "../evaluation/evaluation.ts";
import { judgePrompt, judgeRequest, type JudgeModel } from "../evaluation/judge.ts";
import { createJudgeMedia, type WithJudgeMedia } from "../evaluation/judge-media.ts";
import type { JudgeCost } from "../evaluation/run-evaluation.ts";
import { startRunner, type Runner } from "../evaluation/runner.ts";
import { createSandbox, type Sandbox } from "../evaluation/sandbox/sandbox-pool.ts";
import { startScoreReplicator } from "../evaluation/score-replicator.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { estimateCost } from "../gateway/estimate/estimators.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { createQueueCapacity, type QueueCapacity } from "../ingest/fan-out/queue-capacity.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { evaluationLimits } from "../evaluation/limits.ts";
import { ingestLimits } from "../ingest/limits.ts";
import { jobsLimits } from "../jobs/limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { readNodeId } from "../storage/journal/node-id.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createEvaluationMetrics } from "../telemetry/evaluation-metrics.ts";

export type EvaluationParts = {
  config: Pick<Config, "dataDir" | "automationDailyBudget" | "evaluatorCpuMs">;
  stores: ControlStores;
  spans: SpanStore;
  catalogue: Catalogue<SpanRow>;
  registry: Registry;
  watchLimits: WatchLimits;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
  prices: PriceBook;
  /** Calls a model. */
  judge: JudgeModel;
  /** Consumes new scores, at least once each. */
  publish?: (scores: readonly Score[]) => Promise<void>;
};

/** Conditions, automations and their evaluators, applied to stored spans. */
export async function composeEvaluation(
  parts: EvaluationParts,
): Promise<Evaluation & { subscribers: SpanSubscriber[] }> {
  const { config, stores, spans, catalogue, registry, watchLimits, logger, cleanup, now } = parts;
  const { judge, publish = nobody } = parts;
  const nodeId = readNodeId(join(config.dataDir, "node.id"));
  const metrics = createEvaluationMetrics(registry, {
    backlog: () => stores.evaluationRuns.pending(evaluationLimits.evaluationBacklogCounted),
    full: () => room.full(),
    waiting: () => sandbox.waiting(),
    judgesWaiting: () => judgeGate.waiting,
    mediaWaiting: () => judgeMedia.waiting(),
  });
  const activeAutomations = createActiveAutomations({
    automations: stores.automations,
    catalogue,
    onUnreadable: (automationId, error) => logger.error({ err: error, automationId }, "a condition is unreadable"),
    now,
  });
  const room = createRunRoom(parts, activeAutomations);
  await Promise.all([activeAutomations.refresh(), room.refresh()]);

  const scoreReplicator = startScoreReplicator({
    scores: stores.scores,
    stores,
    spans,
    publish,
    logger,
    nodeId,
    now,
    onFailure: () => metrics.replicationFailures.inc(),
  });
  cleanup.push(() => scoreReplicator.stop());
  const sandbox = createSandbox({
    threads: Math.max(1, Math.min(evaluationLimits.sandboxThreads, availableParallelism() - 1)),
    queued: evaluationLimits.sandboxQueued,
    timeMs: config.evaluatorCpuMs,
    graceMs: evaluationLimits.sandboxGraceMs,
    memoryBytes: evaluationLimits.sandboxMemoryBytes,
    stackBytes: evaluationLimits.sandboxStackBytes,
    resultChars: evaluationLimits.scoreTextChars,
    onOutcome: (outcome) => metrics.sandboxRuns.inc({ outcome }),
  });
  cleanup.push(() => sandbox.stop());
  const judgeMedia = createJudgeMedia(spans);
  const { withMedia } = judgeMedia;
  const judgeGate = createJudgeGate();
  const evaluate = createEvaluate({ sandbox, judge, withMedia, judgeGate });
  const runner = await startRunner({
    stores,
    spans,
    activeAutomations,
    evaluate,
    logger,
    owner: nodeId,
    now,
    judgeCostUsd: createJudgeCost(parts, withMedia),
    dailyBudgetUsd: config.automationDailyBudget,
    retryDelaysMs: evaluationLimits.evaluationRetryMs,
    finished: (result) => {
      metrics.evaluations.inc({ outcome: result.kind });
      if (result.kind === "scored" || result.kind === "failed") scoreReplicator.wake();
    },
  });
  cleanup.push(() => runner.stop());
  watchLimits(limitsOf({ runner, sandbox, judgeGate, judgeMedia }));
  scheduleUpkeep(parts, activeAutomations, room);
  const wake = (added: number) => runner.wake(added);
  const runs = createRunQueue({ activeAutomations, stores, room, wake, now });
  const sent = createSentScores({
    stores,
    count: (outcome, results) => metrics.sentScores.inc({ outcome }, results),
    wake: () => scoreReplicator.wake(),
    now,
  });
  return { activeAutomations, scoreReplicator, evaluate, subscribers: [runs, sent] };
}

type Limited = {
  runner: Runner;
  sandbox: Sandbox;
  judgeGate: FairGate;
  judgeMedia: ReturnType<typeof createJudgeMedia>;
};

function limitsOf({ runner, sandbox, judgeGate, judgeMedia }: Limited): Record<string, SharedLimit> {
  return {
    evaluationRunsInFlight: runner.limit(),
    sandboxThreads: sandbox.limits().places,
    sandboxQueued: sandbox.limits().queue,
    judgesInFlight: judgeGate.places,
    judgesWaiting: judgeGate.queue,
    judgesWithMedia: judgeMedia.gate.places,
  };
}

/** Estimates the cost with the model that the evaluator names. */
function createJudgeCost(
  { prices, now }: Pick<EvaluationParts, "prices" | "now">,
  withMedia: WithJudgeMedia,
): JudgeCost {
  return async ({ evaluator, config }, inputs, of) => {
    const prompt = judgePrompt(config, inputs);
    return await withMedia(prompt, of, (media) => {
      const request = { members: judgeRequest(evaluator, config, prompt, media) };
      const plan = { first: [], models: [config.model] };
      const { organizationId } = of;
      return Promise.resolve(estimateCost(prices, { organizationId, operation: "chat", request, plan, atMs: now() }));
    });
  };
}

const nobody = () => Promise.resolve();

/** Bounds the pending evaluations of an organization; beyond the bound, its automations report that they lag behind. */
function createRunRoom({ stores, logger, now }: EvaluationParts, activeAutomations: ActiveAutomations): QueueCapacity {
  return createQueueCapacity({
    maxEntries: evaluationLimits.evaluationQueueRuns,
    count: () => stores.evaluationRuns.waiting(),
    onFull(organizationId) {
      logger.warn({ organizationId }, "the limit of pending evaluations is reached; further logs are read back later");
      const noted = activeAutomations
        .ofOrganization(organizationId)
        .map(({ id }) => stores.automations.noteError(id, queueIsFull, new Date(now()).toISOString()));
      Promise.all(noted).catch((error: unknown) =>
        logger.warn({ err: error }, "an error could not be stored on its automations"),
      );
    },
  });
}

const queueIsFull =
  "Logs arrive faster than they are evaluated. Those over the limit of the queue are evaluated later.";

/** Loads changes of other nodes, and deletes old finished runs. */
function scheduleUpkeep(
  { stores, logger, cleanup, now }: EvaluationParts,
  activeAutomations: ActiveAutomations,
  room: QueueCapacity,
): void {
  const recount = scheduleJob(
    { name: "room for evaluations", everyMs: ingestLimits.queueCapacityEveryMs, logger },
    () => room.refresh(),
  );
  cleanup.push(() => recount.stop());
  const refresh = scheduleJob({ name: "automations", everyMs: evaluationLimits.automationRefreshMs, logger }, () =>
    activeAutomations.refresh(),
  );
  cleanup.push(() => refresh.stop());
  const evict = scheduleJob({ name: "evaluation memory", everyMs: jobsLimits.retentionEveryMs, logger }, () =>
    stores.evaluationRuns.deleteBefore(new Date(now() - evaluationLimits.evaluationMemoryMs).toISOString()),
  );
  cleanup.push(() => evict.stop());
}
