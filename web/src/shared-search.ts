import { choiceOf } from "./lib/search.ts";
import { parseRange, type RangeSearch } from "./lib/range.ts";
import type { TimeZone } from "./lib/time.ts";

/** What every screen has in its URL, and keeps on the way to the next one. Production and local time are left out. */
export type SharedSearch = RangeSearch & { env?: "test" | undefined; tz?: TimeZone | undefined };

export function parseSharedSearch(search: Record<string, unknown>): SharedSearch {
  const env = choiceOf(search, "env", ["test"]);
  const tz = choiceOf(search, "tz", ["utc"]);
  return { ...nothing(sharedNames), ...parseRange(search), ...(env && { env }), ...(tz && { tz }) };
}

export const sharedNames = ["env", "range", "from", "to", "tz"] as const;

/**
 * How a screen reads its own parameters. The router keeps whatever a route does not name as it stands in the URL: what `parse` leaves out
 * has to be undefined, or a screen would get it unread.
 */
export function strictly<T extends object>(parse: (search: Record<string, unknown>) => T) {
  return (search: Record<string, unknown>): T => ({
    ...nothing(Object.keys(search).filter((name) => !isShared.has(name))),
    ...parse(search),
  });
}

const isShared: ReadonlySet<string> = new Set(sharedNames);

function nothing(names: readonly string[]): Record<string, undefined> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
