import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TurnQueue } from "./turn-queue.ts";

test("items of one turn are passed on at its end, together, in order and once", async () => {
  const taken: number[][] = [];
  const queue = new TurnQueue<number>((items) => {
    taken.push([...items]);
    if (items.includes(2)) queue.add(3);
  });
  queue.add(1);
  await Promise.resolve();
  queue.add(2);
  expect([taken, queue.size]).toEqual([[], 2]);
  await nextTurn();
  expect([taken, queue.size]).toEqual([[[1, 2]], 1]);
  queue.flush();
  await nextTurn();
  expect(taken).toEqual([[1, 2], [3]]);
});

test("a lone item is passed on immediately, unless another waits before it", async () => {
  const taken: number[][] = [];
  const queue = new TurnQueue<number>((items) => taken.push([...items]));
  queue.add(1, true);
  queue.add(2);
  queue.add(3, true);
  expect(taken).toEqual([[1]]);
  await nextTurn();
  expect(taken).toEqual([[1], [2, 3]]);
});
