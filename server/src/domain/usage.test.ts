import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeUsage, type RawUsage, type Usage } from "./usage.ts";

const buckets = (raw: RawUsage) => {
  const { fresh, cacheRead, cacheWrite, output, input, total } = normalizeUsage(raw) as Usage;
  return { fresh, cacheRead, cacheWrite, output, input, total };
};

describe("cached input is counted once", () => {
  test("a total of input + output means inclusive", () => {
    expect(buckets({ input: 130213, cacheRead: 128955, cacheWrite: 1253, output: 500, total: 130713 })).toEqual({
      fresh: 5,
      cacheRead: 128955,
      cacheWrite: 1253,
      output: 500,
      input: 130213,
      total: 130713,
    });
  });

  test("a total that adds the cache means exclusive", () => {
    expect(buckets({ input: 5000, cacheRead: 1000, output: 100, total: 6100 })).toMatchObject({
      fresh: 5000,
      cacheRead: 1000,
      input: 6000,
      total: 6100,
    });
    expect(buckets({ input: 4299, output: 631, cacheRead: 35574, cacheWrite: 17787, total: 58291 })).toEqual({
      fresh: 4299,
      cacheRead: 35574,
      cacheWrite: 17787,
      output: 631,
      input: 57660,
      total: 58291,
    });
    expect(buckets({ input: 3, output: 442, cacheRead: 7917, cacheWrite: 350, total: 8712 })).toMatchObject({
      fresh: 3,
      output: 442,
      total: 8712,
    });
  });

  test("more cached than input must be exclusive", () => {
    expect(buckets({ input: 4, cacheRead: 35000, output: 10, convention: "inclusive" })).toMatchObject({
      fresh: 4,
      input: 35004,
      total: 35014,
    });
  });

  test("otherwise the family decides, inclusive by default", () => {
    expect(buckets({ input: 100, cacheRead: 40, output: 1 }).fresh).toBe(60);
    expect(buckets({ input: 100, cacheRead: 40, output: 1, convention: "exclusive" }).fresh).toBe(100);
  });

  test("cache writes of two lifetimes add up", () => {
    expect(
      normalizeUsage({ input: 25, cacheWrite5m: 12, cacheWrite1h: 8, cacheRead: 20, convention: "exclusive" }),
    ).toMatchObject({
      input: 65,
      fresh: 25,
      cacheWrite: 20,
      cacheWrite1h: 8,
    });
  });
});

test("reasoning outside the output is added to it, reasoning inside is not", () => {
  expect(normalizeUsage({ input: 10, output: 5, reasoning: 20, total: 35 })).toMatchObject({ output: 25, total: 35 });
  expect(normalizeUsage({ input: 10, output: 25, reasoning: 20, total: 55 })).toMatchObject({ output: 45, total: 55 });
  expect(normalizeUsage({ input: 57, output: 17, reasoning: 5, total: 74 })).toMatchObject({ output: 17, total: 74 });
});

describe("M1: the stated total decides first if a detail is larger than its whole", () => {
  test("reasoning beyond the completion stays inside", () => {
    const usage = normalizeUsage({ input: 1640, output: 102, total: 1742, reasoning: 109 });
    expect(usage).toMatchObject({ input: 1640, output: 102, total: 1742 });
  });

  test("reasoning outside the completion is added if the total includes it", () => {
    const usage = normalizeUsage({ input: 1640, output: 102, total: 1851, reasoning: 109 });
    expect(usage).toMatchObject({ input: 1640, output: 211, total: 1851 });
  });

  test("a cache that slightly exceeds its input stays inside, and is cut to it", () => {
    const usage = normalizeUsage({ input: 1640, cacheRead: 1700, output: 102, total: 1742, convention: "inclusive" });
    expect(usage).toMatchObject({ input: 1640, fresh: 0, cacheRead: 1640, total: 1742 });
  });

  test("a total that adds cache and reasoning has both outside", () => {
    const usage = normalizeUsage({ input: 100, cacheRead: 40, output: 20, reasoning: 7, total: 167 });
    expect(usage).toMatchObject({ input: 140, fresh: 100, output: 27, total: 167 });
  });
});

test("M4: a total of input + output proves nothing about the cache", () => {
  const sent = { input: 5000, cacheRead: 1000, cacheWrite: 500, output: 100, total: 5100 };
  expect(normalizeUsage({ ...sent, convention: "exclusive" })).toMatchObject({ fresh: 5000, input: 6500, total: 6600 });
  expect(normalizeUsage({ ...sent, convention: "inclusive" })).toMatchObject({ fresh: 3500, input: 5000, total: 5100 });
});

test("unknown is not zero", () => {
  expect(normalizeUsage({})).toBeUndefined();
  expect(normalizeUsage({ total: 9 })).toMatchObject({ input: undefined, output: undefined, total: 9 });
  expect(normalizeUsage({ input: 0, output: 0 })).toMatchObject({ input: 0, output: 0, total: 0, fresh: 0 });
  expect(normalizeUsage({ output: 7 })).toMatchObject({ input: undefined, output: 7, total: 7 });
});

test("buckets are disjoint, never negative, and sum to the total", () => {
  const count = fc.option(fc.nat(200_000), { nil: undefined });
  fc.assert(
    fc.property(
      fc.record({
        input: count,
        output: count,
        total: count,
        cacheRead: count,
        cacheWrite: count,
        cacheWrite5m: count,
        cacheWrite1h: count,
        reasoning: count,
        convention: fc.constantFrom("inclusive" as const, "exclusive" as const, undefined),
      }),
      (raw) => {
        const usage = normalizeUsage(raw);
        if (!usage) return;
        for (const value of Object.values(usage)) expect(Number(value ?? 0)).toBeGreaterThanOrEqual(0);
        expect(usage.cacheWrite1h ?? 0).toBeLessThanOrEqual(usage.cacheWrite ?? 0);
        expect(usage.cacheWrite ?? 0).toBeLessThanOrEqual(raw.cacheWrite ?? Infinity);
        if (usage.input === undefined || usage.output === undefined) return;
        expect((usage.fresh ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)).toBe(usage.input);
        expect(usage.total).toBe(usage.input + usage.output);
      },
    ),
  );
});
