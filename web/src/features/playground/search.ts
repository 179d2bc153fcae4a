import { textOf } from "../../lib/search.ts";

export type PlaygroundSearch = {
  /** The span that the page starts from. */
  span?: string | undefined;
};

export function parsePlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const span = textOf(search, "span");
  return span === undefined ? {} : { span };
}
