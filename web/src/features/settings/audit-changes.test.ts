import { expect, test } from "vitest";
import { changedMembers } from "./audit-changes.ts";

test("a change shows its previous value if an earlier entry with the same target has it, from the newest such entry", () => {
  const entry = { target: "a", changes: { role: "admin", name: "", password: null, models: ["m"] } };
  const earlier = [
    { target: "b", changes: { role: "owner" } },
    { target: "a", changes: { role: "member" } },
    { target: "a", changes: { role: "viewer", models: null } },
  ];
  expect(changedMembers(entry, earlier)).toEqual([
    { name: "role", value: "admin", before: "member", isHidden: false },
    { name: "name", value: "empty", before: undefined, isHidden: false },
    { name: "password", value: "not shown", before: undefined, isHidden: true },
    { name: "models", value: '["m"]', before: "not shown", isHidden: false },
  ]);
  expect(changedMembers({ target: null, changes: { x: 1 } }, [{ target: null, changes: { x: 2 } }])).toEqual([
    { name: "x", value: "1", before: undefined, isHidden: false },
  ]);
});
