import { storageLimits } from "../../limits.ts";

/**
 * The last finished pass of sums, times in ms. `hasHours`: whether it summed hours too, which earlier versions do not.
 * `isAhead`: its watermark is in the future, so the clock must have gone back.
 */
export type LastPass = { epoch: number; watermarkMs: number; closedMs: number; hasHours: boolean; isAhead: boolean };

/** Caches the last pass briefly: a slightly older pass only covers less. */
export type PassMemory = {
  read(probe: () => Promise<LastPass>): Promise<LastPass>;
  clear(): void;
  /** The number of spans in the busiest slot of an organization; `look` reads it. */
  busiestSlot(organizationId: string, probe: () => Promise<number>): Promise<number>;
  /** A window with fewer spans is read without sums. */
  sumsFromSpans: number;
};

export function createPassMemory(sumsFromSpans: number = storageLimits.sumsFromSpans): PassMemory {
  let known: { pass: LastPass; atMs: number } | undefined;
  const busiest = new Map<string, { spans: number; atMs: number }>();
  return {
    sumsFromSpans,
    async read(probe) {
      const atMs = performance.now();
      if (known !== undefined && atMs - known.atMs < storageLimits.sumsPassKnownMs) return known.pass;
      const pass = await probe();
      known = { pass, atMs };
      return pass;
    },
    clear() {
      known = undefined;
    },
    async busiestSlot(organizationId, probe) {
      const atMs = performance.now();
      const found = busiest.get(organizationId);
      if (found !== undefined && atMs - found.atMs < storageLimits.sumsBusiestKnownMs) return found.spans;
      const spans = await probe();
      if (busiest.size >= storageLimits.sumsBusiestOrganizations) busiest.clear();
      busiest.set(organizationId, { spans, atMs });
      return spans;
    },
  };
}
