import { isObject } from "./json.ts";

/**
 * Returns the same text for equal values: members sorted by name, no whitespace, one form of escapes and numbers. Takes
 * values of `parseJson`; recursion is as deep as the value.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(inOrder);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]));
}
