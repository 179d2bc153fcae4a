import { apiLimits } from "../limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import { spanGroupings } from "../../storage/spans/span-store.ts";

/** The maximum number of fields to group by. */
const maxKeys = 2;

const known: ReadonlySet<string> = new Set(spanGroupings);
const choices = `${spanGroupings.join(", ")} or metadata__<key>`;

export const groupByDescription = `One or two of ${choices}, separated by commas.`;

/** For the API reference: single fields, and a pair. */
export const groupByExamples: string[] = [...spanGroupings, "metadata__plan,model"];

/** The names in a `group_by` parameter, or an error message. */
export function readGroupBy(text: string): { names: string[] } | { message: string } {
  const names = text.split(",").map((name) => name.trim());
  if (names.length > maxKeys) return { message: `group_by takes at most ${maxKeys} names` };
  if (new Set(names).size < names.length) return { message: "group_by names the same twice" };
  return names.every((name) => known.has(name) || isMetadata(name))
    ? { names }
    : { message: `group_by must be one of ${choices}, or two of them separated by a comma` };
}

const facetChoices: ReadonlySet<string> = new Set(
  spanGroupings.filter((name) => name !== "trace" && name !== "thread"),
);
export const facetNames = `${[...facetChoices].join(", ")} or metadata__<key>`;

/** The names in the `fields` parameter of facets, or an error message. */
export function readFacets(text: string): { names: string[] } | { message: string } {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  if (names.length > apiLimits.facetFields) return { message: `fields takes at most ${apiLimits.facetFields} names` };
  const unknown = names.find((name) => !facetChoices.has(name) && !isMetadata(name));
  return unknown === undefined ? { names } : { message: `fields has no ${unknown}: it takes ${facetNames}` };
}

/** Keys that begin with `_` are reserved and not shown. */
function isMetadata(name: string): boolean {
  const key = /^metadata__(.+)$/s.exec(name)?.[1];
  return key !== undefined && !key.startsWith("_") && key.length <= filterLimits.metadataKeyChars;
}
