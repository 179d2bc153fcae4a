import { expect, test } from "vitest";
import { undoAll } from "./undo-all.ts";

test("if a step cannot be undone, the others still are, and its error is thrown at the end", async () => {
  const undone: number[] = [];
  const steps = [1, 2, 3, 4].map((step) => async () => {
    if (step === 3) throw new Error("no connection");
    undone.push(step);
  });
  await expect(undoAll(steps)).rejects.toThrow("no connection");
  expect([undone, steps]).toEqual([[4, 2, 1], []]);
  await expect(undoAll(steps)).resolves.toBeUndefined();
});
