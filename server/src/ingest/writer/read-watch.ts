import { storageLimits } from "../../storage/limits.ts";

/** Whether somebody looks at spans on this node: what comes in is then stored sooner, and at more cost. */
export type ReadWatch = {
  /** Told of a statement that read spans, by its name. */
  saw(name: string): void;
  isRead(): boolean;
};

/** @param nowMs of a clock that never steps back */
export function createReadWatch(nowMs: () => number = () => performance.now()): ReadWatch {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    saw(name) {
      if (!probes.has(name)) lastMs = nowMs();
    },
    isRead: () => nowMs() - lastMs < storageLimits.writerReadMs,
  };
}

/** Statements that come whether anybody looks or not. */
const probes: ReadonlySet<string> = new Set(["ping"]);
