import { Registry } from "prom-client";
import { afterEach, expect, test, vi } from "vitest";
import { createSumsMetrics } from "./store-metrics.ts";

afterEach(() => vi.useRealTimers());

test("the sums fall behind with the clock until a round says how far behind they are", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const registry = new Registry();
  const onRound = createSumsMetrics(registry);
  const behindS = async (): Promise<unknown> =>
    (await registry.getSingleMetric("spanway_sums_behind_seconds")?.get())?.values[0]?.value;
  expect(await behindS()).toBe(0);
  onRound({ behindMs: 80_000, slots: 0 });
  expect(await behindS()).toBe(80);
  vi.advanceTimersByTime(3_600_000);
  expect(await behindS()).toBe(3_680);
  onRound({ behindMs: 90_000, slots: 3 });
  expect(await behindS()).toBe(90);
});
