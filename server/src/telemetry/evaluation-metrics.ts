import { Counter, type Registry } from "prom-client";

export function createEvaluationMetrics(registry: Registry) {
  const registers = [registry];
  return {
    mirrorFailures: new Counter({
      name: "spanway_score_copy_failures_total",
      help: "Times that scores could not be copied to the span store, which were tried again",
      registers,
    }),
  };
}
