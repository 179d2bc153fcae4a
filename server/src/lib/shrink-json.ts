import { isRawNumber } from "./json.ts";

/** Bounds of texts, lists and objects, and of the nesting depth. */
type ShrinkLimits = { chars: number; items: number; depth: number };

/** In order of severity. The last one leaves at most 6^4 texts of 60 characters, with names of the same length. */
const steps: readonly ShrinkLimits[] = [
  { chars: 40_000, items: 1_000, depth: 32 },
  { chars: 10_000, items: 500, depth: 32 },
  { chars: 4_000, items: 200, depth: 32 },
  { chars: 1_000, items: 100, depth: 16 },
  { chars: 300, items: 50, depth: 12 },
  { chars: 120, items: 20, depth: 8 },
  { chars: 60, items: 6, depth: 4 },
];

/**
 * Returns a value as JSON that fits `max`, cut with the mildest bounds that suffice; each cut has a mark that states
 * how much is missing.
 *
 * @param size measures a JSON text, in the unit of `max`
 * @throws RangeError if the value does not fit even with the tightest bounds
 */
export function shrinkJson(
  value: unknown,
  { max, size }: { max: number; size: (json: string) => number },
): { json: string; isTruncated: boolean } {
  const whole = JSON.stringify(value);
  if (size(whole) <= max) return { json: whole, isTruncated: false };
  for (const limits of steps) {
    const json = JSON.stringify(shrink(value, limits));
    if (size(json) <= max) return { json, isTruncated: true };
  }
  throw new RangeError(`nothing of the value fits into ${max}`);
}

function shrink(value: unknown, limits: ShrinkLimits): unknown {
  if (typeof value === "string") return truncateText(value, limits.chars);
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  if (limits.depth === 0) return "… [cut: what lies deeper]";
  const deeper = { ...limits, depth: limits.depth - 1 };
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.items).map((item: unknown) => shrink(item, deeper));
    return value.length > limits.items ? [...items, `… [cut: ${value.length - limits.items} more]`] : items;
  }
  const members = Object.entries(value);
  const shortened = members
    .slice(0, limits.items)
    .map(([name, member]): [string, unknown] => [truncateText(name, limits.chars), shrink(member, deeper)]);
  if (members.length > limits.items) shortened.push(["…", `[cut: ${members.length - limits.items} more members]`]);
  return Object.fromEntries(shortened);
}

function truncateText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).toWellFormed()}… [cut: ${text.length - chars} more characters]`;
}
