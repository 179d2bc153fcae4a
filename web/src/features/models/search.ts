import { textOf } from "../../lib/search.ts";

export type ModelsSearch = {
  /** A text contained in the model's name. */
  find?: string | undefined;
  provider?: string | undefined;
  page?: number | undefined;
};

export function parseModelsSearch(search: Record<string, unknown>): ModelsSearch {
  const find = textOf(search, "find");
  const provider = textOf(search, "provider");
  const page = Number(textOf(search, "page") ?? 1);
  return { ...(find && { find }), ...(provider && { provider }), ...(Number.isInteger(page) && page > 1 && { page }) };
}
