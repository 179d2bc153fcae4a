import fc from "fast-check";
import { expect, test } from "vitest";
import { FairShare } from "./fair-share.ts";

/** What each party holds after all take one piece at a time, in turn, until none gets more. */
function saturate(share: FairShare, parties: readonly string[], amount: number): number[] {
  const held = parties.map(() => 0);
  for (let progress = true; progress;) {
    progress = false;
    for (const [index, party] of parties.entries()) {
      if (!share.take(party, amount)) continue;
      held[index] = (held[index] ?? 0) + amount;
      progress = true;
    }
  }
  return held;
}

test("one party gets four fifths, several get equal parts, and some is left for the next", () => {
  for (const parties of [["a"], ["a", "b"], ["a", "b", "c", "d", "e", "f", "g", "h"]]) {
    const share = new FairShare(10_000);
    const held = saturate(share, parties, 10);
    const part = (4 / (4 * parties.length + 1)) * 10_000;
    for (const each of held) expect(Math.abs(each - part)).toBeLessThan(50);
    expect(share.take("newcomer", part / 5)).toBe(true);
  }
});

test("an amount that one party returns is available to another", () => {
  const share = new FairShare(100);
  saturate(share, ["a"], 1);
  const [before] = saturate(share, ["b"], 1);
  share.giveBack("a", 60);
  const [more] = saturate(share, ["b"], 1);
  expect((before ?? 0) + (more ?? 0)).toBeGreaterThan(60);
});

test("any order of takes and returns stays within the bound, and ends with nothing held", () => {
  const step = fc.record({ party: fc.constantFrom("a", "b", "c"), amount: fc.nat(40), isBack: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const share = new FairShare(100);
      const held = new Map<string, number[]>();
      for (const { party, amount, isBack } of steps) {
        const pieces = held.get(party) ?? [];
        held.set(party, pieces);
        const piece = isBack ? pieces.pop() : undefined;
        if (piece !== undefined) share.giveBack(party, piece);
        else if (share.take(party, amount)) pieces.push(amount);
        const room = share.room(party);
        expect(saturate(share, [party], 1)).toEqual([room]);
        share.giveBack(party, room);
        expect(share.held).toBe([...held.values()].flat().reduce((sum, each) => sum + each, 0));
        expect(share.held).toBeLessThanOrEqual(100);
      }
      for (const [party, pieces] of held) for (const piece of pieces) share.giveBack(party, piece);
      expect(share.held).toBe(0);
      expect(share.take("a", 100)).toBe(true);
    }),
  );
});
