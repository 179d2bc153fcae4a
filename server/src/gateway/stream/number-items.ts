import { isObject } from "../../lib/json.ts";

/**
 * Adds a running `index` to the items of a list, by which SDKs accumulate pieces. A list whose items have one is
 * returned unchanged.
 * @param counts number of earlier items, by the list's name
 */
export function numberItems(name: string, items: readonly unknown[], counts: Map<string, number>): readonly unknown[] {
  if (items.every((item) => !isObject(item) || isIndex(item["index"]))) return items;
  const first = counts.get(name) ?? 0;
  counts.set(name, first + items.length);
  return items.map((item, i) => (isObject(item) ? { ...item, index: first + i } : item));
}

export function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Lists of a message whose items have an index only in a stream. */
const numbered: ReadonlySet<string> = new Set(["thinking_blocks", "images", "annotations"]);

/** The items of a list of a complete message, where an index has no meaning. */
export function withoutIndexes(name: string, items: readonly unknown[]): readonly unknown[] {
  if (!numbered.has(name)) return items;
  return items.map((item) => {
    if (!isObject(item)) return item;
    const { index: _index, ...rest } = item;
    return rest;
  });
}
