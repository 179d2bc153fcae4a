import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatCost, formatCount, formatDuration, formatExactCost, formatInteger, unknown } from "../lib/format.ts";
import { formatDate, formatExactTime, formatTime, formatWhen, type TimeZone } from "../lib/time.ts";

type Known<T> = T | null | undefined;

/** The zone in the URL. */
export function useTimeZone(): TimeZone {
  return useSearch({ strict: false, select: ({ tz }) => tz }) ?? "local";
}

/** An unknown value, and why it is unknown. In a monospaced font, its dash would be as short as a hyphen. */
export function Unknown({ why }: { why: string }): ReactNode {
  return (
    <span title={why} className="font-sans text-faint">
      {unknown}
      <span className="sr-only"> ({why})</span>
    </span>
  );
}

export function Cost({ usd, why = "No cost is known." }: { usd: Known<number>; why?: string }): ReactNode {
  if (usd === null || usd === undefined) return <Unknown why={why} />;
  return (
    <span className="figures" title={formatExactCost(usd)}>
      {formatCost(usd)}
    </span>
  );
}

export function Count({ value, why = "Nothing was counted." }: { value: Known<number>; why?: string }): ReactNode {
  if (value === null || value === undefined) return <Unknown why={why} />;
  return (
    <span className="figures" title={formatInteger(value)}>
      {formatCount(value)}
    </span>
  );
}

export function Duration({
  seconds,
  why = "No time was measured.",
}: {
  seconds: Known<number>;
  why?: string;
}): ReactNode {
  if (seconds === null || seconds === undefined) return <Unknown why={why} />;
  return (
    <span className="figures" title={`${seconds} s`}>
      {formatDuration(seconds)}
    </span>
  );
}

/** A time in the zone of the page; with `isAgo` as elapsed time, with `isDay` as the date only. */
export function Time({
  at,
  isAgo = false,
  isDay = false,
}: {
  at: Known<string | number>;
  isAgo?: boolean;
  isDay?: boolean;
}): ReactNode {
  const zone = useTimeZone();
  if (at === null || at === undefined || at === "") return <Unknown why="No time was sent." />;
  return (
    <time dateTime={new Date(at).toISOString()} className="figures" title={formatExactTime(at, zone)}>
      {isDay ? formatDate(at, zone) : isAgo ? formatWhen(at, zone) : formatTime(at, zone)}
    </time>
  );
}
