import { storageLimits } from "../../limits.ts";

/**
 * The last finished pass of sums, times in ms. `hasHours`: whether it summed hours too, which earlier versions do not.
 * `isAhead`: its watermark is in the future, so the clock must have gone back.
 */
export type LastPass = { epoch: number; watermarkMs: number; closedMs: number; hasHours: boolean; isAhead: boolean };

/** Caches the last pass briefly: a slightly older pass only covers less. */
export type PassMemory = {
  read(look: () => Promise<LastPass>): Promise<LastPass>;
  forget(): void;
  /** The number of spans in the busiest slot of an organization; `look` reads it. */
  busiestSlot(organizationId: string, look: () => Promise<number>): Promise<number>;
  /** A window with fewer spans is read without sums. */
  sumsFromSpans: number;
};

export function createPassMemory(sumsFromSpans: number = storageLimits.sumsFromSpans): PassMemory {
  let known: { pass: LastPass; atMs: number } | undefined;
  const busiest = new Map<string, { spans: number; atMs: number }>();
  return {
    sumsFromSpans,
    async read(look) {
      const atMs = performance.now();
      if (known !== undefined && atMs - known.atMs < storageLimits.sumsPassKnownMs) return known.pass;
      const pass = await look();
      known = { pass, atMs };
      return pass;
    },
    forget() {
      known = undefined;
    },
    async busiestSlot(organizationId, look) {
      const atMs = performance.now();
      const found = busiest.get(organizationId);
      if (found !== undefined && atMs - found.atMs < storageLimits.sumsBusiestKnownMs) return found.spans;
      const spans = await look();
      if (busiest.size >= storageLimits.sumsBusiestOrganizations) busiest.clear();
      busiest.set(organizationId, { spans, atMs });
      return spans;
    },
  };
}
