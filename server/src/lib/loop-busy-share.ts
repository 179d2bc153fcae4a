import { performance } from "node:perf_hooks";

/** Each call returns the share of the time since the previous call in which the event loop was busy, from 0 to 1. */
export function loopBusyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
