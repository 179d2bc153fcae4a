import { isObject } from "./json.ts";

/**
 * One text for all that says the same: members in the order of their names, no whitespace, escapes and numbers written one
 * way. Takes what `parseJson` gives; recursion is as deep as the value.
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
