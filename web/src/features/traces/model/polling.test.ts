import { expect, test } from "vitest";
import { isRunning, nextPollMs } from "./polling.ts";

const state = { nowMs: 1_000_000, newestMs: 995_000, unchanged: 0, tookMs: 10 };

test("polls soon while spans arrive, and less and less often while none do", () => {
  const waits = [0, 1, 2, 5, 50].map((unchanged) => Number(nextPollMs({ ...state, unchanged })));
  expect(waits[0]).toBe(1500);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBe(15_000);
});

test("spends no more than a tenth of the time on requests", () => {
  expect(nextPollMs({ ...state, tookMs: 4000 })).toBe(36_000);
});

test("stops once the trace is quiet, and ignores a clock that is far ahead", () => {
  expect(nextPollMs({ ...state, newestMs: 900_000 })).toBe(false);
  expect(nextPollMs({ ...state, newestMs: 9_000_000 })).toBe(false);
  expect(isRunning(state.nowMs, state.newestMs)).toBe(true);
});
