/** Runs work concurrently until some of it needs to be exclusive: later work then waits. */
export type Turns = {
  /** Whether no exclusive work runs or waits. */
  isOpen(): boolean;
  /** Runs concurrent work. Call it only while `isOpen`. */
  beside(work: () => Promise<void>): Promise<void>;
  /** Runs exclusive work, one after the other, once everything started before has ended. */
  alone(work: () => Promise<void>): Promise<void>;
};

export function createTurns(): Turns {
  const underWay = new Set<Promise<void>>();
  let last: Promise<void> | undefined;
  return {
    isOpen: () => last === undefined,
    async beside(work) {
      const begun = work();
      underWay.add(begun);
      try {
        await begun;
      } finally {
        underWay.delete(begun);
      }
    },
    async alone(work) {
      const before = last === undefined ? [...underWay] : [last];
      const mine = Promise.allSettled(before).then(work);
      last = mine;
      try {
        await mine;
      } finally {
        if (last === mine) last = undefined;
      }
    },
  };
}
