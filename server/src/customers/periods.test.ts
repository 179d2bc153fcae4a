import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { budgetDurations } from "../domain/customer.ts";
import { periodAt, type Period, type PeriodRule } from "./periods.ts";

const rule = (change: Partial<PeriodRule>): PeriodRule => ({
  budget_duration: null,
  period_start: null,
  period_end: null,
  created_at: "2026-01-15T10:20:30.000Z",
  ...change,
});

const shown = (period: Period | undefined) =>
  period && [period.startMs, period.endMs].map((ms) => (ms === undefined ? null : new Date(ms).toISOString()));

const at = (change: Partial<PeriodRule>, now: string) => shown(periodAt(rule(change), Date.parse(now)));

const midnight = (day: string) => `${day}T00:00:00.000Z`;

describe("periods", () => {
  test.each([
    ["daily", "2026-03-04T23:59:59.999Z", "2026-03-04", "2026-03-05"],
    ["weekly", "2026-01-22T00:00:00Z", "2026-01-19", "2026-01-26"],
    ["weekly", "2026-01-25T23:59:59Z", "2026-01-19", "2026-01-26"],
    ["monthly", "2026-02-14T12:00:00Z", "2026-02-01", "2026-03-01"],
    ["monthly", "2026-12-31T23:59:59Z", "2026-12-01", "2027-01-01"],
    ["yearly", "2027-01-15T00:00:00Z", "2027-01-01", "2028-01-01"],
  ] as const)("M13: %s ones are the calendar's (UTC) without a stated start", (budget_duration, now, from, to) => {
    expect(at({ budget_duration }, now)).toEqual([midnight(from), midnight(to)]);
  });

  test.each([
    ["2026-02-15", "2026-01-31", "2026-02-28"],
    ["2026-03-01", "2026-02-28", "2026-03-31"],
    ["2026-03-31", "2026-03-31", "2026-04-30"],
    ["2028-02-29", "2028-02-29", "2028-03-31"],
  ])("monthly from the 31st, on %s", (now, from, to) => {
    const anchored = { budget_duration: "monthly", period_start: midnight("2026-01-31") } as const;
    expect(at(anchored, midnight(now))).toEqual([midnight(from), midnight(to)]);
  });

  test("yearly from a leap day", () => {
    const anchored = { budget_duration: "yearly", period_start: midnight("2024-02-29") } as const;
    expect(at(anchored, "2026-01-01")).toEqual([midnight("2025-02-28"), midnight("2026-02-28")]);
    expect(at(anchored, "2028-06-01")).toEqual([midnight("2028-02-29"), midnight("2029-02-28")]);
  });

  test("an explicit period replaces the duration, which takes over at its end", () => {
    const explicit = { period_start: midnight("2026-03-10"), period_end: midnight("2026-03-20") };
    expect(at({ ...explicit, budget_duration: "monthly" }, "2026-03-15")).toEqual(Object.values(explicit));
    expect(at({ ...explicit, budget_duration: "monthly" }, "2026-03-20")).toEqual([
      midnight("2026-03-20"),
      midnight("2026-04-20"),
    ]);
    expect(at(explicit, "2026-03-19T23:59:59.999Z")).toEqual(Object.values(explicit));
    expect(at(explicit, "2026-03-20")).toBeUndefined();
    expect(at(explicit, "2026-03-09")).toBeUndefined();
  });

  test("without duration and end there is one endless period", () => {
    expect(at({}, "2031-01-01")).toEqual([midnight("2026-01-15"), null]);
  });

  test("follow each other without gap or overlap, and every instant is in its own period", () => {
    const ms = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) });
    fc.assert(
      fc.property(fc.constantFrom(...budgetDurations), ms, ms, (budget_duration, anchorMs, nowMs) => {
        const rules = rule({ budget_duration, period_start: new Date(anchorMs).toISOString() });
        const period = periodAt(rules, nowMs);
        expect(period === undefined).toBe(nowMs < anchorMs);
        if (period === undefined) return;
        const { startMs, endMs } = period as { startMs: number; endMs: number };
        expect(startMs).toBeLessThanOrEqual(nowMs);
        expect(endMs).toBeGreaterThan(nowMs);
        expect(periodAt(rules, endMs)?.startMs).toBe(endMs);
        expect(periodAt(rules, endMs - 1)).toEqual(period);
        expect(periodAt(rules, startMs - 1)?.endMs).toBe(startMs > anchorMs ? startMs : undefined);
      }),
      { numRuns: 500 },
    );
  });
});
