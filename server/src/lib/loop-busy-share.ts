import { performance } from "node:perf_hooks";

/** Tells at each call which part of the time since the one before the event loop had work, from 0 to 1. */
export function loopBusyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
