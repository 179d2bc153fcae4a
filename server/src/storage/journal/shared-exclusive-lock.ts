/** Runs work concurrently until some of it needs exclusive access: later work then waits. */
export type SharedExclusiveLock = {
  /** Whether no exclusive work runs or waits. */
  canShare(): boolean;
  /** Runs concurrent work. Call it only while `canShare`. */
  runShared(work: () => Promise<void>): Promise<void>;
  /** Runs exclusive work, one after another, once everything started before has ended. */
  runExclusive(work: () => Promise<void>): Promise<void>;
};

export function createSharedExclusiveLock(): SharedExclusiveLock {
  const running = new Set<Promise<void>>();
  let last: Promise<void> | undefined;
  return {
    canShare: () => last === undefined,
    async runShared(work) {
      const started = work();
      running.add(started);
      try {
        await started;
      } finally {
        running.delete(started);
      }
    },
    async runExclusive(work) {
      const before = last === undefined ? [...running] : [last];
      const own = Promise.allSettled(before).then(work);
      last = own;
      try {
        await own;
      } finally {
        if (last === own) last = undefined;
      }
    },
  };
}
