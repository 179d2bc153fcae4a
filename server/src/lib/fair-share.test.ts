import fc from "fast-check";
import { expect, test } from "vitest";
import { FairShare } from "./fair-share.ts";

/** What each party has acquired after all acquire one piece at a time, in turn, until none gets more. */
function saturate(share: FairShare, parties: readonly string[], amount: number): number[] {
  const acquired = parties.map(() => 0);
  for (let progress = true; progress;) {
    progress = false;
    for (const [index, party] of parties.entries()) {
      if (!share.tryAcquire(party, amount)) continue;
      acquired[index] = (acquired[index] ?? 0) + amount;
      progress = true;
    }
  }
  return acquired;
}

test("one party gets four fifths, several get equal parts, and some is left for the next", () => {
  for (const parties of [["a"], ["a", "b"], ["a", "b", "c", "d", "e", "f", "g", "h"]]) {
    const share = new FairShare(10_000);
    const acquired = saturate(share, parties, 10);
    const part = (4 / (4 * parties.length + 1)) * 10_000;
    for (const each of acquired) expect(Math.abs(each - part)).toBeLessThan(50);
    expect(share.tryAcquire("newcomer", part / 5)).toBe(true);
  }
});

test("an amount that one party releases is available to another", () => {
  const share = new FairShare(100);
  saturate(share, ["a"], 1);
  const [before] = saturate(share, ["b"], 1);
  share.release("a", 60);
  const [more] = saturate(share, ["b"], 1);
  expect((before ?? 0) + (more ?? 0)).toBeGreaterThan(60);
});

test("any order of acquiring and releasing stays within the bound, and ends with nothing in use", () => {
  const step = fc.record({ party: fc.constantFrom("a", "b", "c"), amount: fc.nat(40), isRelease: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const share = new FairShare(100);
      const acquired = new Map<string, number[]>();
      for (const { party, amount, isRelease } of steps) {
        const pieces = acquired.get(party) ?? [];
        acquired.set(party, pieces);
        const piece = isRelease ? pieces.pop() : undefined;
        if (piece !== undefined) share.release(party, piece);
        else if (share.tryAcquire(party, amount)) pieces.push(amount);
        const room = share.available(party);
        expect(saturate(share, [party], 1)).toEqual([room]);
        share.release(party, room);
        expect(share.inUse).toBe([...acquired.values()].flat().reduce((sum, each) => sum + each, 0));
        expect(share.inUse).toBeLessThanOrEqual(100);
      }
      for (const [party, pieces] of acquired) for (const piece of pieces) share.release(party, piece);
      expect(share.inUse).toBe(0);
      expect(share.tryAcquire("a", 100)).toBe(true);
    }),
  );
});
