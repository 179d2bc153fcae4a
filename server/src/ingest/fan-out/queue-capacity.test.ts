import { expect, test } from "vitest";
import { createQueueCapacity } from "./queue-capacity.ts";

test("a queue is full at its bound until it is half empty, and reports that once each time", async () => {
  const waiting = new Map([["org_a", 4]]);
  const full: string[] = [];
  const count = () => Promise.resolve(waiting);
  const room = createQueueCapacity({ maxEntries: 10, count, onFull: (organization) => full.push(organization) });
  await room.refresh();
  room.added("org_a", 5);
  expect(room.isFull("org_a")).toBe(false);
  room.added("org_a", 1);
  room.added("org_a", 1);
  expect([room.isFull("org_a"), room.isFull("org_b"), room.full()]).toEqual([true, false, 1]);
  for (const [now, isFull] of [
    [10, true],
    [6, true],
    [5, false],
    [9, false],
    [12, true],
  ] as const) {
    waiting.set("org_a", now);
    await room.refresh();
    expect([now, room.isFull("org_a")]).toEqual([now, isFull]);
  }
  // Organizations without entries are not counted.
  waiting.delete("org_a");
  await room.refresh();
  expect([room.isFull("org_a"), room.full()]).toEqual([false, 0]);
  expect(full).toEqual(["org_a", "org_a"]);
});
