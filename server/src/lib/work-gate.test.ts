import { expect, test } from "vitest";
import { WorkGate } from "./work-gate.ts";

test("runs so many at once, lets so many wait in order, and refuses the rest at once", async () => {
  const gate = new WorkGate({ maxInFlight: 2, maxQueued: 2 });
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const work = (id: number) =>
    gate.run(async () => {
      started.push(id);
      await new Promise<void>((resolve) => finish.push(resolve));
      return id;
    });

  const runs = [1, 2, 3, 4, 5].map(work);
  await Promise.resolve();
  expect(started).toEqual([1, 2]);
  expect(runs[4]).toBeUndefined();

  finish[0]?.();
  expect(await runs[0]).toBe(1);
  await Promise.resolve();
  expect(started).toEqual([1, 2, 3]);
  for (let at = 1; at < 4; at += 1) {
    finish[at]?.();
    expect(await runs[at]).toBe(at + 1);
    await Promise.resolve();
  }
  expect(started).toEqual([1, 2, 3, 4]);
});

test("work that fails gives its place back", async () => {
  const gate = new WorkGate({ maxInFlight: 1, maxQueued: 0 });
  await expect(gate.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await gate.run(() => Promise.resolve("fine"))).toBe("fine");
});
