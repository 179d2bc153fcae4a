import { setTimeout as sleep } from "node:timers/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import { telemetryLimits } from "./limits.ts";

export function createEvaluationMetrics(
  registry: Registry,
  read: {
    backlog: () => Promise<number>;
    full: () => number;
    waiting: () => number;
    judgesWaiting: () => number;
    mediaWaiting: () => number;
  },
) {
  const registers = [registry];
  return {
    full: new Gauge({
      name: "spanway_evaluation_queues_full",
      help: "Organizations at the limit of queued evaluations: further logs are read back later",
      registers,
      collect() {
        this.set(read.full());
      },
    }),
    backlog: new Gauge({
      name: "spanway_evaluation_backlog",
      help: "Unfinished evaluations of all nodes, counted up to 100,000; NaN while the control store does not respond",
      registers,
      async collect() {
        const counted = read.backlog().catch(() => Number.NaN);
        // A store that hangs must not delay the other metrics.
        this.set(await Promise.race([counted, sleep(telemetryLimits.readinessMs, Number.NaN, { ref: false })]));
      },
    }),
    evaluations: new Counter({
      name: "spanway_evaluations_total",
      help: "Attempts to evaluate a log, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    sentScores: new Counter({
      name: "spanway_sent_scores_total",
      help: "Results of evaluations that came with spans, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    sandboxRuns: new Counter({
      name: "spanway_sandbox_runs_total",
      help: "Runs of code and rules; refused means that too many waited, lost that one had to be terminated",
      labelNames: ["outcome"],
      registers,
    }),
    sandboxWaiting: new Gauge({
      name: "spanway_sandbox_waiting",
      help: "Runs of code and rules that wait for a thread",
      registers,
      collect() {
        this.set(read.waiting());
      },
    }),
    judgesWaiting: new Gauge({
      name: "spanway_judges_waiting",
      help: "Judgements that wait for their turn",
      registers,
      collect() {
        this.set(read.judgesWaiting());
      },
    }),
    judgeMediaWaiting: new Gauge({
      name: "spanway_judge_media_waiting",
      help: "Judgements that wait until there is room in memory for their media",
      registers,
      collect() {
        this.set(read.mediaWaiting());
      },
    }),
    replicationFailures: new Counter({
      name: "spanway_score_copy_failures_total",
      help: "Failures to copy scores to the span store, which were retried",
      registers,
    }),
  };
}
