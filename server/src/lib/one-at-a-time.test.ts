import { expect, test } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

test("a slow read does not replace what a later one has read", async () => {
  let stored = "old";
  let known = "";
  const slow = Promise.withResolvers<void>();
  const waits = [slow.promise, Promise.resolve()];
  const refresh = oneAtATime(async () => {
    const read = stored;
    await waits.shift();
    known = read;
  });
  const first = refresh();
  await Promise.resolve();
  stored = "new";
  const second = refresh();
  slow.resolve();
  await Promise.all([first, second]);
  expect(known).toBe("new");
});

test("a failure concerns its own call", async () => {
  const outcomes = [() => Promise.reject(new Error("away")), () => Promise.resolve()];
  const refresh = oneAtATime(() => outcomes.shift()!());
  const calls = await Promise.allSettled([refresh(), refresh()]);
  expect(calls.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});
