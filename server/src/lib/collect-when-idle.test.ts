import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// A process that does nothing else: garbage of other tests would be collected at any time.
const program = `
import { constants, PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { collectWhenIdle } from ${JSON.stringify(join(import.meta.dirname, "collect-when-idle.ts"))};
let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
}).observe({ entryTypes: ["gc"] });
collectWhenIdle(100);
const busyUntilMs = performance.now() + 400;
while (performance.now() < busyUntilMs) {
  const turnEndMs = performance.now() + 20;
  while (performance.now() < turnEndMs);
  await new Promise((resolve) => setImmediate(resolve));
}
const whileBusy = collections;
for (let tries = 0; collections === 0 && tries < 100; tries += 1) await sleep(100);
console.log(JSON.stringify({ whileBusy, isCollected: collections > whileBusy }));
`;

test("the whole heap is collected in the first idle period, and not while the process is busy", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  expect(JSON.parse(stdout)).toEqual({ whileBusy: 0, isCollected: true });
});
