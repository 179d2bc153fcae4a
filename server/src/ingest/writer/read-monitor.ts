import { storageLimits } from "../../storage/limits.ts";

/** Whether spans are being read on this node: if so, incoming spans are stored sooner, at a higher cost. */
export type ReadMonitor = {
  /** Called with the name of each statement that reads spans. */
  saw(name: string): void;
  isRead(): boolean;
};

/** @param nowMs a monotonic clock */
export function createReadMonitor(nowMs: () => number = () => performance.now()): ReadMonitor {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    saw(name) {
      if (!probes.has(name)) lastMs = nowMs();
    },
    isRead: () => nowMs() - lastMs < storageLimits.writerReadMs,
  };
}

/** Statements that run whether or not somebody reads. */
const probes: ReadonlySet<string> = new Set(["ping"]);
