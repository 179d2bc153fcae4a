import { pino } from "pino";
import { Registry } from "prom-client";
import { watchControl, type ControlWatch } from "../../src/storage/control/control-watch.ts";
import { createControlMetrics } from "../../src/telemetry/store-metrics.ts";

export const staleMs = 600_000;

/** A control store whose pings succeed, unless `ping` says otherwise. */
export function controlUp(ping: () => Promise<void> = async () => undefined): ControlWatch {
  const metrics = createControlMetrics(new Registry());
  return watchControl({ ping, staleMs, metrics, logger: pino({ level: "silent" }), pingEveryMs: 50, patienceMs: 200 });
}
