import { Counter, Histogram, type Registry } from "prom-client";

/** Metrics of alert rules. No tenant data in labels. */
export type AlertMetrics = {
  evaluations: Counter<"outcome">;
  evaluationSeconds: Histogram;
  truncated: Counter;
};

export function createAlertMetrics(registry: Registry): AlertMetrics {
  const registers = [registry];
  return {
    evaluations: new Counter({
      name: "spanway_alert_evaluations_total",
      help: "Evaluations of alert rules, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    evaluationSeconds: new Histogram({
      name: "spanway_alert_evaluation_seconds",
      help: "Duration of one evaluation",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers,
    }),
    truncated: new Counter({
      name: "spanway_alert_groups_truncated_total",
      help: "Evaluations of rules with more groups than are watched",
      registers,
    }),
  };
}
