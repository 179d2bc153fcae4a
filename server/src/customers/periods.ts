import type { BudgetDuration, CustomerFields } from "../domain/customer.ts";

/** Milliseconds since the epoch. `endMs` is the first instant after the period; absent: the period does not end. */
export type Period = { startMs: number; endMs: number | undefined };

export type PeriodRule = Pick<CustomerFields, "budget_duration" | "period_start" | "period_end"> & {
  created_at: string;
};

/**
 * The period that contains an instant; undefined before the first one and, without a duration, after the only one.
 *
 * Periods begin at `period_start`, or with the calendar (UTC) if it is null. An explicit `period_end` sets the length
 * of the first one. After it, or from the start without one, each lasts one duration. Months and years are counted from
 * the first: a period that began on the 31st begins on the last day of a shorter month, and on the 31st again after it.
 * Without duration and end there is one endless period.
 */
export function periodAt(rule: PeriodRule, nowMs: number): Period | undefined {
  const startMs = firstStartMs(rule);
  const endMs = rule.period_end === null ? undefined : Date.parse(rule.period_end);
  if (nowMs < startMs) return undefined;
  if (endMs !== undefined && nowMs < endMs) return { startMs, endMs };
  if (rule.budget_duration === null) return endMs === undefined ? { startMs, endMs: undefined } : undefined;
  return recurring(endMs ?? startMs, rule.budget_duration, nowMs);
}

/** The start of the first period. */
export function firstStartMs({ period_start, budget_duration, created_at }: PeriodRule): number {
  if (period_start !== null) return Date.parse(period_start);
  if (budget_duration !== null) return budget_duration === "weekly" ? firstMondayMs : 0;
  return Math.floor(Date.parse(created_at) / dayMs) * dayMs;
}

const dayMs = 86_400_000;
const firstMondayMs = 4 * dayMs;

function recurring(anchorMs: number, duration: BudgetDuration, nowMs: number): Period {
  let index = Math.max(0, roughCount(anchorMs, duration, nowMs) - 1);
  while (nthStart(anchorMs, duration, index + 1) <= nowMs) index += 1;
  return { startMs: nthStart(anchorMs, duration, index), endMs: nthStart(anchorMs, duration, index + 1) };
}

/** The number of periods that have begun, plus or minus one. */
function roughCount(anchorMs: number, duration: BudgetDuration, nowMs: number): number {
  if (duration === "daily") return Math.floor((nowMs - anchorMs) / dayMs);
  if (duration === "weekly") return Math.floor((nowMs - anchorMs) / (7 * dayMs));
  const [anchor, now] = [new Date(anchorMs), new Date(nowMs)];
  const years = now.getUTCFullYear() - anchor.getUTCFullYear();
  return duration === "yearly" ? years : years * 12 + now.getUTCMonth() - anchor.getUTCMonth();
}

/** Counted from the anchor each time, so that a short month does not shorten later periods. */
function nthStart(anchorMs: number, duration: BudgetDuration, n: number): number {
  if (duration === "daily") return anchorMs + n * dayMs;
  if (duration === "weekly") return anchorMs + n * 7 * dayMs;
  const anchor = new Date(anchorMs);
  const months = anchor.getUTCMonth() + (duration === "yearly" ? 12 * n : n);
  const [year, month] = [anchor.getUTCFullYear() + Math.floor(months / 12), months % 12];
  const day = Math.min(anchor.getUTCDate(), new Date(Date.UTC(year, month + 1, 0)).getUTCDate());
  return Date.UTC(year, month, day) + (anchorMs - Math.floor(anchorMs / dayMs) * dayMs);
}
