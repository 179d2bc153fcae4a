import fc from "fast-check";
import { expect, test } from "vitest";
import { Roster, type RosterMember } from "./roster.ts";

test("holds whoever entered and has not left, once", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 200 }), (steps) => {
      const roster = new Roster();
      const expected = new Set<RosterMember>();
      const members = Array.from({ length: 10 }, (): RosterMember => ({ place: undefined }));
      for (const [enters, which] of steps) {
        const member = members[which];
        if (member === undefined) continue;
        if (enters) roster.enter(member);
        else roster.leave(member);
        if (enters) expected.add(member);
        else expected.delete(member);
        expect(roster.all()).toHaveLength(expected.size);
        expect(new Set(roster.all())).toEqual(expected);
      }
    }),
  );
});
