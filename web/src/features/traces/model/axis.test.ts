import fc from "fast-check";
import { expect, test } from "vitest";
import { boundsOf, clampWindow, formatZoom, parseZoom, placeIn, tickLabel, ticksOf, zoomWindow } from "./axis.ts";
import { readSpans } from "./read-spans.ts";
import { ms, node } from "./trees.fixture.ts";

const bounds = { startMs: ms(0), endMs: ms(1000), lengthMs: 1000 };

test("reaches from the first start to the last end, even if children lie outside their parents", () => {
  const spans = readSpans([
    node("root", [10, 50], {}, [node("early", [-5, 20]), node("late", [40, 90])]),
    { unique_id: "x" },
  ]);
  expect(boundsOf(spans)).toEqual({ startMs: ms(-5), endMs: ms(90), lengthMs: 95 });
  expect(boundsOf(readSpans([]))).toEqual({ startMs: 0, endMs: 1, lengthMs: 1 });
  expect(boundsOf(readSpans([node("moment", [3, 3])])).lengthMs).toBe(1);
});

test("places spans as shares of the window, clipped at its edges", () => {
  const window = { from: 100, to: 300 };
  expect(placeIn(window, ms(0), ms(150), ms(200))).toEqual({
    left: 0.25,
    width: 0.25,
    isCutLeft: false,
    isCutRight: false,
  });
  expect(placeIn(window, ms(0), ms(0), ms(1000))).toEqual({ left: 0, width: 1, isCutLeft: true, isCutRight: true });
  expect(placeIn(window, ms(0), ms(0), ms(99))).toBeUndefined();
  expect(placeIn(window, ms(0), Number.NaN, Number.NaN)).toBeUndefined();
});

test("zooms around a fixed time, and never beyond the trace", () => {
  expect(zoomWindow({ from: 0, to: 1000 }, bounds, 0.5, 400)).toEqual({ from: 200, to: 700 });
  expect(zoomWindow({ from: 200, to: 700 }, bounds, 4, 400)).toEqual({ from: 0, to: 1000 });
  const step = fc.record({
    factor: fc.double({ min: 0.01, max: 100, noNaN: true }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      let window = { from: 0, to: 1000 };
      for (const { factor, share } of steps) {
        window = zoomWindow(window, bounds, factor, window.from + share * (window.to - window.from));
        expect(window.from).toBeGreaterThanOrEqual(0);
        expect(window.to).toBeLessThanOrEqual(1000 + 1e-9);
        expect(window.to).toBeGreaterThan(window.from);
      }
    }),
  );
});

test("clips windows of other traces to this one", () => {
  expect(clampWindow({ from: 5000, to: 6000 }, bounds)).toEqual({ from: 0, to: 1000 });
  expect(clampWindow({ from: 900, to: 1200 }, bounds)).toEqual({ from: 700, to: 1000 });
  expect(clampWindow({ from: Number.NaN, to: 3 }, bounds)).toEqual({ from: 0, to: 1000 });
});

test("ticks are round, within the window, and fit the available space", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.double({ min: 0.001, max: 1e12, noNaN: true }),
      fc.integer({ min: 2, max: 12 }),
      (from, length, most) => {
        const { ticks, stepMs } = ticksOf({ from, to: from + length }, most);
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        for (const tick of ticks) {
          expect(tick).toBeGreaterThanOrEqual(from - stepMs * 1e-6);
          expect(tick).toBeLessThanOrEqual(from + length + stepMs * 1e-6);
        }
      },
    ),
  );
  expect(ticksOf({ from: 0, to: 1000 }, 5).ticks).toEqual([0, 200, 400, 600, 800, 1000]);
  expect(ticksOf({ from: 0, to: 100_000 }, 5).ticks).toEqual([0, 30_000, 60_000, 90_000]);
});

test.each([
  [0, 1, "0"],
  [200, 200, "200 ms"],
  [0.05, 0.01, "0.05 ms"],
  [0.002, 0.001, "2 µs"],
  [1500, 500, "1.5 s"],
  [3000, 1000, "3 s"],
  [60_000, 15_000, "1 min"],
  [90_000, 30_000, "1 min 30 s"],
  [60_500, 500, "1 min 0.5 s"],
  [3_600_000, 30_000, "1 h"],
  [3_615_000, 15_000, "1 h 15 s"],
  [9_000_000, 1_800_000, "2 h 30 min"],
  [129_600_000, 43_200_000, "1 d 12 h"],
])("a tick at %d with steps of %d is labelled %s", (at, step, label) => {
  expect(tickLabel(at, step)).toBe(label);
});

test("a zoom survives a round trip through the URL", () => {
  expect(parseZoom(formatZoom({ from: 12, to: 3400.25 }))).toEqual({ from: 12, to: 3400.25 });
  for (const text of [undefined, "", "5", "9-3", "a-b", "-5-3", "1e9-2e9"]) expect(parseZoom(text)).toBeUndefined();
});
