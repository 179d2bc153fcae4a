import { textOf } from "../../lib/search.ts";

export type PlaygroundSearch = {
  /** The span whose call the page starts with. */
  span?: string | undefined;
};

export function parsePlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const span = textOf(search, "span");
  return span === undefined ? {} : { span };
}
