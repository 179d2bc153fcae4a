const hourMs = 3_600_000;

/** The length of the demo's history. */
export const spreadHours = 14 * 24;

/** The relative load of each hour of a day (UTC): offices are open from eight to eighteen, with a lunch break. */
const busyHours = [
  0.03, 0.02, 0.02, 0.02, 0.03, 0.05, 0.15, 0.4, 0.8, 1, 1, 0.95, 0.7, 0.85, 1, 0.95, 0.8, 0.55, 0.35, 0.25, 0.2, 0.15,
  0.1, 0.05,
];
const weekend = 0.3;
/** Ensures that the last hour, the default window of reads, is never empty. */
const busyNow = 1.5;

/**
 * `count` ascending times in the 14 days before `endMs`, distributed by the load of each hour; the last is `endMs`
 * itself. `growthPerDay` is the factor between the load of a day and that of the day before.
 */
export function spread(count: number, endMs: number, growthPerDay = 1): number[] {
  const weights = Array.from({ length: spreadHours }, (_, index) => {
    const startMs = endMs - (spreadHours - index) * hourMs;
    const growth = growthPerDay ** (index / 24);
    return growth * (index === spreadHours - 1 ? busyNow : busyness(new Date(startMs + hourMs / 2)));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [hour, before] = [0, 0];
  return Array.from({ length: count }, (_, index) => {
    const reached = ((index + 1) / count) * total;
    while (hour < spreadHours - 1 && before + (weights[hour] ?? 0) < reached) {
      before += weights[hour] ?? 0;
      hour += 1;
    }
    const within = Math.min((reached - before) / (weights[hour] ?? 1), 1);
    return Math.round(endMs - (spreadHours - hour - within) * hourMs);
  });
}

function busyness(time: Date): number {
  return (busyHours[time.getUTCHours()] ?? 0) * (time.getUTCDay() % 6 === 0 ? weekend : 1);
}

/** The latest evening, from 18 to 21 o'clock (UTC), that ended at least a day before `endMs`. */
export function lastEvening(endMs: number): { startMs: number; endMs: number } {
  const day = new Date(endMs - 24 * hourMs);
  const eveningEndMs = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), 21);
  const lastMs = eveningEndMs > day.getTime() ? eveningEndMs - 24 * hourMs : eveningEndMs;
  return { startMs: lastMs - 3 * hourMs, endMs: lastMs };
}
