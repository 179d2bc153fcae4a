import { isRawNumber } from "./json.ts";

/** Bounds of texts, lists and objects, and of the nesting depth. */
type Cut = { chars: number; items: number; depth: number };

/** In order of severity. The last one leaves at most 6^4 texts of 60 characters, with names of the same length. */
const cuts: readonly Cut[] = [
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
): { json: string; isCut: boolean } {
  const whole = JSON.stringify(value);
  if (size(whole) <= max) return { json: whole, isCut: false };
  for (const cut of cuts) {
    const json = JSON.stringify(shrink(value, cut));
    if (size(json) <= max) return { json, isCut: true };
  }
  throw new RangeError(`nothing of the value fits into ${max}`);
}

function shrink(value: unknown, cut: Cut): unknown {
  if (typeof value === "string") return cutText(value, cut.chars);
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  if (cut.depth === 0) return "… [cut: what lies deeper]";
  const deeper = { ...cut, depth: cut.depth - 1 };
  if (Array.isArray(value)) {
    const items = value.slice(0, cut.items).map((item: unknown) => shrink(item, deeper));
    return value.length > cut.items ? [...items, `… [cut: ${value.length - cut.items} more]`] : items;
  }
  const members = Object.entries(value);
  const kept = members
    .slice(0, cut.items)
    .map(([name, member]): [string, unknown] => [cutText(name, cut.chars), shrink(member, deeper)]);
  if (members.length > cut.items) kept.push(["…", `[cut: ${members.length - cut.items} more members]`]);
  return Object.fromEntries(kept);
}

function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).toWellFormed()}… [cut: ${text.length - chars} more characters]`;
}
