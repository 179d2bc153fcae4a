import { expect, test } from "vitest";
import { changeOf } from "./change.ts";

test("a change is computed only if both values are known", () => {
  expect(changeOf(3, 2)).toEqual({ kind: "ratio", ratio: 0.5 });
  expect(changeOf(0, 2)).toEqual({ kind: "ratio", ratio: -1 });
  expect(changeOf(2, 0)).toEqual({ kind: "new" });
  expect(changeOf(0, 0)).toEqual({ kind: "same" });
  expect(changeOf(null, 2)).toBeUndefined();
  expect(changeOf(2, null)).toBeUndefined();
});
