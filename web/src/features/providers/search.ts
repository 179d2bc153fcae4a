import { textOf } from "../../lib/search.ts";

export type ProvidersSearch = {
  /** A text contained in the provider's name. */
  find?: string | undefined;
  /** The provider of a test call. */
  try?: string | undefined;
};

export function parseProvidersSearch(search: Record<string, unknown>): ProvidersSearch {
  const find = textOf(search, "find");
  const tried = textOf(search, "try");
  return { ...(find && { find }), ...(tried && { try: tried }) };
}
