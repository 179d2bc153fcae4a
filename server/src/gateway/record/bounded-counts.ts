import { isObject } from "../../lib/json.ts";

const maxDepth = 4;
const maxValues = 500;
const maxChars = 100;

/**
 * A copy of an upstream's usage without values that nest too deep, are too long or too many for a span. The counts
 * stay: the call is billed by them.
 */
export function boundedCounts(usage: unknown): unknown {
  let valuesLeft = maxValues;
  const copy = (value: unknown, depthLeft: number): unknown => {
    valuesLeft -= 1;
    if (valuesLeft < 0) return undefined;
    if (typeof value === "string") return value.length <= maxChars ? value : undefined;
    if (!Array.isArray(value) && !isObject(value)) return value;
    if (depthLeft === 0) return undefined;
    if (Array.isArray(value))
      return value.slice(0, maxValues).flatMap((item: unknown) => copy(item, depthLeft - 1) ?? []);
    // Plain counts come first, so that nested values cannot use up the limit.
    const members = Object.entries(value)
      .filter(([name]) => name.length <= maxChars)
      .toSorted(([, a], [, b]) => Number(typeof a === "object") - Number(typeof b === "object"));
    return Object.fromEntries(members.map(([name, member]) => [name, copy(member, depthLeft - 1)]));
  };
  return copy(usage, maxDepth);
}
