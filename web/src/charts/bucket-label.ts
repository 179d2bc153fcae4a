const almostDay = 82_000_000;

/** The label of a bucket: `Sun, Nov 29, 14:00 – 15:00`, or the days that it covers. */
export function bucketLabel(start: number, end: number, timeZone: string): string {
  const date = new Intl.DateTimeFormat("en-US", { timeZone, weekday: "short", month: "short", day: "numeric" });
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const first = date.format(start);
  const [from, to] = [clock.format(start), clock.format(end)];
  if (from === "00:00" && to === "00:00" && end - start > almostDay) {
    const last = date.format(end - 1);
    return first === last ? first : `${first} – ${last}`;
  }
  const last = date.format(end);
  return first === last ? `${first}, ${from} – ${to}` : `${first}, ${from} – ${last}, ${to}`;
}
