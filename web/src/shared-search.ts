import { choiceOf } from "./lib/search.ts";
import { parseRange, type RangeSearch } from "./lib/range.ts";
import type { TimeZone } from "./lib/time.ts";

/**
 * URL parameters of every screen, kept when navigating to another one. Production and local time are the defaults and
 * omitted.
 */
export type SharedSearch = RangeSearch & { env?: "test" | undefined; tz?: TimeZone | undefined };

export function parseSharedSearch(search: Record<string, unknown>): SharedSearch {
  const env = choiceOf(search, "env", ["test"]);
  const tz = choiceOf(search, "tz", ["utc"]);
  return { ...nothing(sharedNames), ...parseRange(search), ...(env && { env }), ...(tz && { tz }) };
}

export const sharedNames = ["env", "range", "from", "to", "tz"] as const;

/**
 * How a screen parses its own parameters. The router keeps unknown parameters of the URL unchanged: those that `parse`
 * drops must be set to undefined, or a screen would get them unvalidated.
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
