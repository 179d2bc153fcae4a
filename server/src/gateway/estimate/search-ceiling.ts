import { isObject } from "../../lib/json.ts";

/** Searches per response without a limit: reasoning models make about eight. */
const usualSearches = 10;

/** Web search tools, by their type at OpenAI and Anthropic, or their member name at Google. */
const searchTool = /^(web_?search|google_?search|google_?maps)/i;

/** The most searches, each of which is charged, that a request lets its provider make. */
export function searchCeiling({ tools }: Record<string, unknown>): number {
  let searches = 0;
  for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
    if (!isObject(tool)) continue;
    const names = typeof tool["type"] === "string" ? [tool["type"]] : Object.keys(tool);
    if (!names.some((name) => searchTool.test(name))) continue;
    const { max_uses } = tool;
    searches += typeof max_uses === "number" && max_uses >= 0 ? max_uses : usualSearches;
  }
  return searches;
}
