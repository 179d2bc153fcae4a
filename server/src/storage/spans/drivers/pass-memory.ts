import { limits } from "../../../limits.ts";

/**
 * The last finished pass of sums, times in ms. `hasHours`: it summed hours too, which earlier versions do not. `isAhead`: its watermark lies
 * in the future, so that the clock must have gone back.
 */
export type LastPass = { epoch: number; watermarkMs: number; closedMs: number; hasHours: boolean; isAhead: boolean };

/** Remembers it for a moment: an earlier pass only knows less. */
export type PassMemory = {
  read(look: () => Promise<LastPass>): Promise<LastPass>;
  forget(): void;
};

export function createPassMemory(): PassMemory {
  let known: { pass: LastPass; atMs: number } | undefined;
  return {
    async read(look) {
      const atMs = performance.now();
      if (known !== undefined && atMs - known.atMs < limits.sumsPassKnownMs) return known.pass;
      const pass = await look();
      known = { pass, atMs };
      return pass;
    },
    forget() {
      known = undefined;
    },
  };
}
