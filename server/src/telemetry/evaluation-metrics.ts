import { Counter, type Registry } from "prom-client";

export function createEvaluationMetrics(registry: Registry) {
  const registers = [registry];
  return {
    evaluations: new Counter({
      name: "spanway_evaluations_total",
      help: "Tries to evaluate a log, by how they ended",
      labelNames: ["outcome"],
      registers,
    }),
    sandboxRuns: new Counter({
      name: "spanway_sandbox_runs_total",
      help: "Runs of code and rules; refused means that too many waited, lost that one had to be cut off",
      labelNames: ["outcome"],
      registers,
    }),
    mirrorFailures: new Counter({
      name: "spanway_score_copy_failures_total",
      help: "Times that scores could not be copied to the span store, which were tried again",
      registers,
    }),
  };
}
