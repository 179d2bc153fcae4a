import { Session } from "node:inspector/promises";
import { performance } from "node:perf_hooks";

/**
 * Returns memory that the heap keeps for new objects to the system, once: in the first period in which the process did
 * nearly nothing, as the collection stops it for a tenth of a second. V8 grows that memory during the start, and does
 * not return it by itself while timers run.
 */
export function collectWhenIdle(periodMs = 1_000): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > idleUtilization) return;
    clearInterval(timer);
    void collect();
  }, periodMs).unref();
}

const idleUtilization = 0.1;

async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
