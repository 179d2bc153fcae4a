import { constants, PerformanceObserver, type PerformanceEntry } from "node:perf_hooks";
import { expect, onTestFinished, test } from "vitest";
import { collectWhenIdle } from "./collect-when-idle.ts";

test("the whole heap is collected in the first idle period, and not while the process is busy", async () => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    const entries = list.getEntries() as Array<PerformanceEntry & { detail?: { kind: number } }>;
    collections += entries.filter(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  });
  observer.observe({ entryTypes: ["gc"] });
  onTestFinished(() => observer.disconnect());
  collectWhenIdle(100);
  const busyUntilMs = performance.now() + 400;
  while (performance.now() < busyUntilMs) {
    const turnEndMs = performance.now() + 20;
    while (performance.now() < turnEndMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(collections).toBe(0);
  await expect.poll(() => collections, { timeout: 3_000 }).toBeGreaterThan(0);
});
