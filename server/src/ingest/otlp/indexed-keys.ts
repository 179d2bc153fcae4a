import { ingestLimits } from "../limits.ts";
import type { AttributeBag } from "./attribute-bag.ts";
import type { AttributeValue } from "./export-request.ts";

/**
 * The attributes of one item of a list that was flattened into keys, by the remainder of the key ("" for the item
 * itself).
 */
export type IndexedItem = Map<string, AttributeValue>;

const indexPattern = /^(\d{1,9})(?:\.(.*))?$/s;

/**
 * Takes `<prefix>.<n>.<rest>` from the bag: the items in the order of their numbers, without gaps, so that a huge number
 * costs nothing. Keys without a number, and items beyond `ingestLimits.otlpIndexedItems`, stay in the bag.
 */
export function takeIndexed(bag: AttributeBag, prefix: string): IndexedItem[] {
  const numbered = new Map<number, string[]>();
  for (const key of bag.keysWith(`${prefix}.`)) {
    const index = indexPattern.exec(key.slice(prefix.length + 1))?.[1];
    if (index === undefined) continue;
    const keys = numbered.get(Number(index));
    if (keys) keys.push(key);
    else numbered.set(Number(index), [key]);
  }
  return inOrder(numbered).map((keys) => {
    const item: IndexedItem = new Map();
    for (const key of keys) {
      const rest = indexPattern.exec(key.slice(prefix.length + 1))?.[2] ?? "";
      const value = bag.take(key);
      if (value !== undefined) item.set(rest, value);
      // Empty values carry no information, and are taken too.
      else bag.drop(key);
    }
    return item;
  });
}

/** The same within an item: `<name>.<n>.<rest>`. */
export function indexedIn(item: IndexedItem, name: string): IndexedItem[] {
  const numbered = new Map<number, IndexedItem>();
  for (const [key, value] of item) {
    if (!key.startsWith(`${name}.`)) continue;
    const match = indexPattern.exec(key.slice(name.length + 1));
    if (match?.[1] === undefined) continue;
    const inner = numbered.get(Number(match[1])) ?? new Map<string, AttributeValue>();
    inner.set(match[2] ?? "", value);
    numbered.set(Number(match[1]), inner);
  }
  return inOrder(numbered);
}

function inOrder<T>(numbered: Map<number, T>): T[] {
  return [...numbered]
    .toSorted(([a], [b]) => a - b)
    .slice(0, ingestLimits.otlpIndexedItems)
    .map(([, value]) => value);
}
