import { isObject } from "../../lib/json.ts";

/** Searches for one answer, where nobody bounds them: models that think make about eight. */
const usualSearches = 10;

/** Tools that search the web, by their type as OpenAI and Anthropic have it, or by their member as Google has it. */
const searchTool = /^(web_?search|google_?search|google_?maps)/i;

/** How many searches, each of which is charged for, a request lets its provider make. */
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
