import { expect, test } from "vitest";
import { timesOf } from "./attempt-notes.ts";

const timeouts = { firstByteMs: 600, idleMs: 60, totalMs: 1_800 };

test.each([
  ["no other model", 1_800, { furtherModels: 0, roomMs: Infinity }, { firstByteMs: 600, totalMs: 1_800 }],
  ["one more, and time", 1_800, { furtherModels: 1, roomMs: Infinity }, { firstByteMs: 600, totalMs: 1_200 }],
  ["one more, and little time", 600, { furtherModels: 1, roomMs: Infinity }, { firstByteMs: 300, totalMs: 300 }],
  ["two more", 900, { furtherModels: 2, roomMs: Infinity }, { firstByteMs: 300, totalMs: 300 }],
  ["one more, and little room", 1_800, { furtherModels: 1, roomMs: 100 }, { firstByteMs: 100, totalMs: 1_200 }],
  ["no time at all", 0, { furtherModels: 1, roomMs: 0 }, { firstByteMs: 1, totalMs: 1 }],
])("P9: an attempt leaves time for other models: %s", (_what, leftMs, step, times) => {
  expect(timesOf(timeouts, leftMs, step, false)).toEqual({ idleMs: 60, ...times });
  expect(timesOf(timeouts, leftMs, step, true).totalMs).toBe(Math.max(1, leftMs));
});
