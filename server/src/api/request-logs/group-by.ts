import { limits } from "../../limits.ts";
import { spanGroupings } from "../../storage/spans/span-store.ts";

/** How many values tell a group at most. */
const maxKeys = 2;

const known: ReadonlySet<string> = new Set(spanGroupings);
const choices = `${spanGroupings.join(", ")} or metadata__<key>`;

export const groupByDescription = `One or two of ${choices}, separated by commas.`;

/** The names of a `group_by` parameter, or what is wrong with it. */
export function readGroupBy(text: string): { names: string[] } | { message: string } {
  const names = text.split(",").map((name) => name.trim());
  if (names.length > maxKeys) return { message: `group_by takes at most ${maxKeys} names` };
  if (new Set(names).size < names.length) return { message: "group_by names the same twice" };
  return names.every((name) => known.has(name) || isMetadata(name))
    ? { names }
    : { message: `group_by must be one of ${choices}, or two of them separated by a comma` };
}

/** Keys that begin with `_` are reserved and not shown. */
function isMetadata(name: string): boolean {
  const key = /^metadata__(.+)$/s.exec(name)?.[1];
  return key !== undefined && !key.startsWith("_") && key.length <= limits.metadataKeyChars;
}
