import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { evaluateAlerts, type EvaluateAlertDeps } from "../alerts/evaluate-alert.ts";
import { createAlertTurns } from "../alerts/run-alerts.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { alertsLimits } from "../alerts/limits.ts";
import { createAlertMetrics } from "../telemetry/alert-metrics.ts";

export type AlertParts = Omit<EvaluateAlertDeps, "metrics"> & {
  registry: Registry;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
};

/** Evaluates alert rules every minute, and deletes old history. */
export function composeAlerts(parts: AlertParts): void {
  const { stores, registry, logger, cleanup, now } = parts;
  const deps = { ...parts, metrics: createAlertMetrics(registry) };
  const turns = createAlertTurns({
    alerts: stores.alerts,
    evaluate: (together, signal) => evaluateAlerts(deps, together, signal),
    now,
  });
  for (let place = 0; place < alertsLimits.alertsInFlight; place += 1) {
    const job = scheduleJob({ name: "alerts", everyMs: alertsLimits.alertPollMs, logger }, turns);
    cleanup.push(() => job.stop());
  }
  const purge = scheduleJob(
    { name: "alert history", everyMs: alertsLimits.alertPurgeEveryMs, logger },
    async (signal) => {
      const before = new Date(now() - alertsLimits.alertHistoryMs).toISOString();
      while (!signal.aborted) {
        const deleted = await stores.alerts.purgeHistory(before, alertsLimits.alertPurgeRows);
        if (deleted < alertsLimits.alertPurgeRows) return;
      }
    },
  );
  cleanup.push(() => purge.stop());
}
