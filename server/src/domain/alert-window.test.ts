import fc from "fast-check";
import { expect, test } from "vitest";
import { nextEvaluationMs, nextWindowEndMs } from "./alert-window.ts";

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 2, 1);
const [settleMs, catchUpMs] = [5_000, 60 * minuteMs];

/** How much the clock moves between two calls: forward, back, by a second or by a day. */
const moves = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 3 * minuteMs }),
    fc.integer({ min: -10 * minuteMs, max: 10 * minuteMs }),
    fc.constantFrom(-86_400_000, 86_400_000, 7 * 86_400_000),
  ),
  { maxLength: 200 },
);

test("however the clock moves, window ends are rising full minutes, and none is evaluated before its end", () => {
  fc.assert(
    fc.property(moves, fc.constantFrom(5, 7, 60, 1440), (all, windowMinutes) => {
      let nowMs = startMs;
      let until: number | undefined;
      for (const move of all) {
        nowMs += move;
        const windowMs = windowMinutes * minuteMs;
        const end = nextWindowEndMs({ evaluatedUntilMs: until, windowMs }, { nowMs, settleMs, catchUpMs });
        const newestMs = Math.floor((nowMs - settleMs) / minuteMs) * minuteMs;
        const before = until ?? Number.NEGATIVE_INFINITY;
        expect(end === undefined).toBe(newestMs <= before);
        if (end === undefined) continue;
        expect(end % minuteMs).toBe(0);
        expect(end).toBeGreaterThan(before);
        expect(end).toBeLessThanOrEqual(newestMs);
        // Windows leave no gap, except beyond the catch-up limit.
        expect(until === undefined || end - windowMs <= until || end === newestMs - catchUpMs).toBe(true);
        until = end;
        const next = nextEvaluationMs(end, { nowMs, settleMs, catchUpMs });
        const clock = { nowMs: next, settleMs, catchUpMs };
        expect(nextWindowEndMs({ evaluatedUntilMs: end, windowMs }, clock)).toBeGreaterThan(end);
      }
    }),
  );
});

test("a rule with a regular clock is evaluated every minute", () => {
  let nowMs = startMs + settleMs;
  let until: number | undefined;
  for (let minute = 0; minute < 10; minute += 1) {
    const clock = { nowMs, settleMs, catchUpMs };
    until = nextWindowEndMs({ evaluatedUntilMs: until, windowMs: 5 * minuteMs }, clock);
    expect(until).toBe(startMs + minute * minuteMs);
    nowMs = nextEvaluationMs(until!, clock);
  }
});
