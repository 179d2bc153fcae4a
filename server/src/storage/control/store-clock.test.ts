import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { ClockError, createStoreClock, type StoreClock } from "./store-clock.ts";

const clocks: StoreClock[] = [];
afterEach(() => clocks.splice(0).forEach((clock) => clock.stop()));

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
  "a node that is %d ms ahead uses the control store's clock, and may lead if it is close",
  async (aheadMs, expected) => {
    expect(await start(aheadMs)).toEqual({ ...expected, skewMs: aheadMs });
  },
);

test.each([
  [300_001, "300 s ahead of"],
  [-3_600_000, "3600 s behind"],
])("a node that is %d ms ahead refuses to start, and reports the skew", async (aheadMs, message) => {
  await expect(start(aheadMs)).rejects.toThrow(ClockError);
  await expect(start(aheadMs)).rejects.toThrow(message);
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
