/** Work that goes on side by side, until some of it has to be alone: what comes after that waits. */
export type Turns = {
  /** Whether nothing is alone, nor waits to be. */
  isOpen(): boolean;
  /** To be begun only while it is open. */
  beside(work: () => Promise<void>): Promise<void>;
  /** One after the other, once all that was begun has ended. */
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
