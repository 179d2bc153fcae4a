import { unknown } from "./format.ts";

export type TimeZone = "local" | "utc";

type Moment = string | number | Date | null | undefined;

function dateOf(moment: Moment): Date | undefined {
  if (moment === null || moment === undefined || moment === "") return undefined;
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const formatters = {
  local: formattersOf(undefined),
  utc: formattersOf("UTC"),
};

function formattersOf(timeZone: string | undefined) {
  const zone = timeZone === undefined ? {} : { timeZone };
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return {
    date: new Intl.DateTimeFormat("en-CA", { ...zone, year: "numeric", month: "2-digit", day: "2-digit" }),
    day: new Intl.DateTimeFormat("en-US", { ...zone, month: "short", day: "numeric" }),
    minute: new Intl.DateTimeFormat("en-GB", { ...zone, ...clock }),
    second: new Intl.DateTimeFormat("en-GB", { ...zone, ...clock, second: "2-digit" }),
    name: new Intl.DateTimeFormat("en-US", { ...zone, timeZoneName: "short" }),
  };
}

/** `14:03:22.120`; the date comes first unless it is that of `now`: `Nov 28 14:03:22`. */
export function formatTime(moment: Moment, zone: TimeZone, now: number = Date.now()): string {
  const date = dateOf(moment);
  if (date === undefined) return unknown;
  const { date: day, day: shortDay, second } = formatters[zone];
  const clock = second.format(date);
  if (day.format(date) === day.format(now)) return `${clock}.${String(date.getUTCMilliseconds()).padStart(3, "0")}`;
  const year = day.format(date).slice(0, 4) === day.format(now).slice(0, 4) ? "" : ` ${day.format(date).slice(0, 4)}`;
  return `${shortDay.format(date)}${year} ${clock}`;
}

/** `Nov 28, 14:03`, without the date if it is that of `now`: for the ends of ranges and axes. */
export function formatMinute(moment: Moment, zone: TimeZone, now?: number): string {
  const date = dateOf(moment);
  if (date === undefined) return unknown;
  const { date: day, day: shortDay, minute } = formatters[zone];
  if (now !== undefined && day.format(date) === day.format(now)) return minute.format(date);
  return `${shortDay.format(date)}, ${minute.format(date)}`;
}

/** `2026-11-28`. */
export function formatDate(moment: Moment, zone: TimeZone): string {
  const date = dateOf(moment);
  return date === undefined ? unknown : formatters[zone].date.format(date);
}

/** Date and time with the zone: `2026-11-28 14:03:22.120 UTC`; for tooltips. */
export function formatExactTime(moment: Moment, zone: TimeZone): string {
  const date = dateOf(moment);
  if (date === undefined) return unknown;
  const { date: day, second, name } = formatters[zone];
  const zoneName = name.formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const fraction = String(date.getUTCMilliseconds()).padStart(3, "0");
  return `${day.format(date)} ${second.format(date)}.${fraction} ${zoneName}`;
}

/** The elapsed time within a day; otherwise date and time: `3 h ago`, `Nov 28, 14:03`, `Nov 28 2025, 14:03`. */
export function formatWhen(moment: Moment, zone: TimeZone, now: number = Date.now()): string {
  const date = dateOf(moment);
  if (date === undefined) return unknown;
  if (Math.abs(now - date.getTime()) < 86_400_000) return formatAgo(moment, now);
  const { date: day, day: shortDay, minute } = formatters[zone];
  const year = day.format(date).slice(0, 4) === day.format(now).slice(0, 4) ? "" : ` ${day.format(date).slice(0, 4)}`;
  return `${shortDay.format(date)}${year}, ${minute.format(date)}`;
}

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`, `in 5 min`. */
export function formatAgo(moment: Moment, now: number = Date.now()): string {
  const date = dateOf(moment);
  if (date === undefined) return unknown;
  const seconds = (now - date.getTime()) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return "just now";
  const [amount, unit] =
    size < 60
      ? [size, "s"]
      : size < 3600
        ? [size / 60, "min"]
        : size < 86_400
          ? [size / 3600, "h"]
          : [size / 86_400, "d"];
  const text = `${Math.floor(amount)} ${unit}`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** The IANA name for the server. */
export function zoneName(zone: TimeZone): string {
  return zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** For `<input type="datetime-local">`, with minute precision. */
export function toInput(moment: Moment, zone: TimeZone): string {
  const date = dateOf(moment);
  if (date === undefined) return "";
  const { date: day, minute } = formatters[zone];
  return `${day.format(date)}T${minute.format(date)}`;
}

/** The inverse of `toInput`, as an ISO time; undefined if the text is not a time. */
export function fromInput(text: string, zone: TimeZone): string | undefined {
  // A date-time without a zone is parsed as local time.
  return dateOf(zone === "utc" && text !== "" ? `${text}Z` : text)?.toISOString();
}
