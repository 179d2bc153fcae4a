import { textOf } from "../../lib/search.ts";

export type ProvidersSearch = {
  /** Text in the name of the provider. */
  find?: string | undefined;
  /** The provider that one call is tried with. */
  try?: string | undefined;
};

export function parseProvidersSearch(search: Record<string, unknown>): ProvidersSearch {
  const find = textOf(search, "find");
  const tried = textOf(search, "try");
  return { ...(find && { find }), ...(tried && { try: tried }) };
}
