import { useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { parseRange, windowOf } from "../lib/range.ts";
import { zoneName, type TimeZone } from "../lib/time.ts";

export type Window = {
  /** ISO times, both inclusive. */
  start: string;
  end: string;
  zone: TimeZone;
  /** The IANA name of the zone. */
  timeZone: string;
  /** Whether the window moves with the clock. */
  isMoving: boolean;
};

/** The time window in the URL. A preset is recomputed every minute while the page is visible. */
export function useWindow(): Window {
  const search = useSearch({ strict: false });
  const { range, from, to } = parseRange(search);
  const isMoving = from === undefined || to === undefined;
  const minute = useMinute(isMoving);
  const zone: TimeZone = search.tz === "utc" ? "utc" : "local";
  return useMemo(
    () => ({ ...windowOf({ range, from, to }, minute), zone, timeZone: zoneName(zone), isMoving }),
    [range, from, to, minute, zone, isMoving],
  );
}

/** The window of the same length before this one. */
export function windowBefore({ start, end }: Pick<Window, "start" | "end">): { start: string; end: string } {
  const startMs = Date.parse(start);
  const length = Date.parse(end) - startMs;
  return { start: new Date(startMs - length).toISOString(), end: new Date(startMs - 1).toISOString() };
}

function useMinute(isMoving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isMoving) return undefined;
    const tick = () => {
      if (document.visibilityState === "visible") setNow(Math.ceil(Date.now() / 60_000) * 60_000);
    };
    const timer = setInterval(tick, 15_000);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [isMoving]);
  return now;
}
