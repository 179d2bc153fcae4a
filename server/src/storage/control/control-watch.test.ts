import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createControlMetrics } from "../../telemetry/store-metrics.ts";
import { watchControl } from "./control-watch.ts";

function watchOf(ping: () => Promise<void>, patienceMs = 2_000) {
  const metrics = createControlMetrics(new Registry());
  const logger = pino({ level: "silent" });
  return watchControl({ ping, staleMs: 60_000, metrics, logger, pingEveryMs: 1e9, patienceMs });
}

test.each([
  { failures: 2, isDown: false },
  { failures: Infinity, isDown: true },
])("after $failures dropped connections the control store is down: $isDown", async ({ failures, isDown }) => {
  let left = failures;
  const control = watchOf(() => {
    left -= 1;
    return left >= 0 ? Promise.reject(new Error("Connection terminated unexpectedly")) : Promise.resolve();
  });
  expect(await control.check()).toBe(isDown);
  control.stop();
});

test("a node that was suspended reads the responses that arrived meanwhile, and reports no outage", async () => {
  const store = new Worker(
    'const { parentPort } = require("node:worker_threads"); parentPort.on("message", () => parentPort.postMessage(1));',
    {
      eval: true,
    },
  );
  await once(store, "online");
  const patienceMs = 500;
  const control = watchOf(async () => {
    const answered = once(store, "message");
    store.postMessage("ping");
    await answered;
  }, patienceMs);
  const checking = control.check();
  // Like after SIGSTOP: the timers are due, and the response is there.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * patienceMs);
  expect(await checking).toBe(false);
  control.stop();
  await store.terminate();
});
