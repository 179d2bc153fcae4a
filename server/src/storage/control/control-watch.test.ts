import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createControlMetrics } from "../../telemetry/control-metrics.ts";
import { watchControl } from "./control-watch.ts";

function watchOf(ping: () => Promise<void>) {
  const metrics = createControlMetrics(new Registry());
  return watchControl({ ping, staleMs: 60_000, metrics, logger: pino({ level: "silent" }), pingEveryMs: 1e9 });
}

test.each([
  { failures: 2, isDown: false },
  { failures: Infinity, isDown: true },
])(
  "after $failures connections that were dropped, the control store is down: $isDown",
  async ({ failures, isDown }) => {
    let left = failures;
    const control = watchOf(() => {
      left -= 1;
      return left >= 0 ? Promise.reject(new Error("Connection terminated unexpectedly")) : Promise.resolve();
    });
    expect(await control.check()).toBe(isDown);
    control.stop();
  },
);
