import { spanGroupings } from "../../storage/spans/span-store.ts";
import { groupByOf, isMetadataKey } from "../group-by.ts";
import { apiLimits } from "../limits.ts";

export const spanGroupBy = groupByOf(spanGroupings, "metadata__plan,model");

const facetChoices: ReadonlySet<string> = new Set(
  spanGroupings.filter((name) => name !== "trace" && name !== "thread"),
);
export const facetNames = `${[...facetChoices].join(", ")} or metadata__<key>`;

/** The names in the `fields` parameter of facets, or an error message. */
export function readFacets(text: string): { names: string[] } | { message: string } {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  if (names.length > apiLimits.facetFields) return { message: `fields takes at most ${apiLimits.facetFields} names` };
  const unknown = names.find((name) => !facetChoices.has(name) && !isMetadataKey(name));
  return unknown === undefined ? { names } : { message: `fields has no ${unknown}: it takes ${facetNames}` };
}
