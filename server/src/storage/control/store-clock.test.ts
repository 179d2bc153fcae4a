import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { storageLimits } from "../limits.ts";
import { ClockError, createStoreClock, type StoreClock } from "./store-clock.ts";

const clocks: StoreClock[] = [];
afterEach(() => {
  clocks.splice(0).forEach((clock) => clock.stop());
  vi.useRealTimers();
});

const start = async (aheadMs: number) => {
  const storeMs = 1_700_000_000_000;
  const clock = createStoreClock({
    readStoreTime: async () => storeMs,
    ownNow: () => storeMs + aheadMs,
    logger: pino({ level: "silent" }),
  });
  clocks.push(clock);
  await clock.start();
  return { mayLead: clock.mayLead(), skewMs: clock.skewMs(), offMs: clock.now() - storeMs };
};

test.each([
  [0, { mayLead: true, offMs: 0 }],
  [499, { mayLead: true, offMs: 499 }],
  [-500, { mayLead: true, offMs: 0 }],
  [29_999, { mayLead: true, offMs: 0 }],
  [30_000, { mayLead: false, offMs: 0 }],
  [-30_000, { mayLead: false, offMs: 0 }],
  [300_000, { mayLead: false, offMs: 0 }],
])(
  "N8: a node that is %d ms ahead uses the control store's clock, and may lead if it is close",
  async (aheadMs, expected) => {
    expect(await start(aheadMs)).toEqual({ ...expected, skewMs: aheadMs });
  },
);

test.each([
  [300_001, "300 s ahead of"],
  [-3_600_000, "3600 s behind"],
])("N8: a node that is %d ms ahead refuses to start, and reports the skew", async (aheadMs, message) => {
  await expect(start(aheadMs)).rejects.toThrow(ClockError);
  await expect(start(aheadMs)).rejects.toThrow(message);
});

test("N8: a clock that jumps is followed within a minute, with a warning from 2 s on, and an error where it is refused", async () => {
  vi.useFakeTimers();
  const storeMs = 1_700_000_000_000;
  let aheadMs = 0;
  const logged: string[] = [];
  const clock = createStoreClock({
    readStoreTime: async () => storeMs,
    ownNow: () => storeMs + aheadMs,
    logger: pino({ formatters: { level: (level) => ({ level }) } }, { write: (line) => void logged.push(line) }),
  });
  clocks.push(clock);
  await clock.start();
  const jump = async (ms: number) => {
    logged.length = 0;
    aheadMs = ms;
    await vi.advanceTimersByTimeAsync(storageLimits.clockMeasureEveryMs);
    const levels = logged.map((line) => (JSON.parse(line) as { level: string }).level);
    return { offMs: clock.now() - storeMs, skewMs: clock.skewMs(), isRefused: clock.isRefused(), levels };
  };
  const calm = { offMs: 0, isRefused: false, levels: [] };
  expect(await jump(1_999)).toEqual({ ...calm, skewMs: 1_999 });
  expect(await jump(2_000)).toMatchObject({ isRefused: false, levels: ["warn"] });
  expect(await jump(-2_000)).toEqual({ ...calm, skewMs: -2_000, levels: ["warn"] });
  expect(await jump(300_001)).toMatchObject({ isRefused: true, levels: ["error"] });
  expect(await jump(0)).toEqual({ ...calm, skewMs: 0 });
});

test("prefers the measurement with the shortest round trip", async () => {
  let ownMs = 1_000_000;
  const delays = [8_000, 0, 4_000];
  const clock = createStoreClock({
    readStoreTime: async () => {
      const storeMs = ownMs - 3_000;
      ownMs += delays.shift() ?? 0;
      return storeMs;
    },
    ownNow: () => ownMs,
    logger: pino({ level: "silent" }),
  });
  clocks.push(clock);
  await clock.start();
  expect(clock.skewMs()).toBe(3_000);
});
