import { isObject } from "../../../lib/json.ts";
import type { UrlCitation } from "../provider.ts";

/**
 * Web sources of a response, from `groundingMetadata` of a candidate:
 * https://ai.google.dev/api/generate-content#GroundingMetadata
 */

/** The number of searches, which are billed. */
export function searchesOf(grounding: unknown): number {
  const queries = isObject(grounding) ? listOf(grounding["webSearchQueries"]) : [];
  return queries.filter((query) => typeof query === "string" && query !== "").length;
}

/** @param content the text of the response, which locates each citation; citations that do not match it are omitted */
export function citationsOf(grounding: unknown, content: string): UrlCitation[] {
  if (!isObject(grounding)) return [];
  const pages = listOf(grounding["groundingChunks"]).map(pageOf);
  const charAt = charsByByte(content);
  const cited = new Map<string, UrlCitation>();
  for (const support of listOf(grounding["groundingSupports"])) {
    if (!isObject(support)) continue;
    const place = placeOf(support["segment"], content, charAt);
    if (place === undefined) continue;
    for (const index of listOf(support["groundingChunkIndices"])) {
      const page = typeof index === "number" ? pages[index] : undefined;
      if (page === undefined) continue;
      const key = `${place.start_index} ${place.end_index} ${page.url}`;
      cited.set(key, { type: "url_citation", url_citation: { ...page, ...place } });
    }
  }
  return [...cited.values()];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** A web page or a place on a map; documents of the caller have no address that others could open. */
function pageOf(chunk: unknown): { url: string; title: string } | undefined {
  const page = isObject(chunk) ? (chunk["web"] ?? chunk["maps"]) : undefined;
  if (!isObject(page) || typeof page["uri"] !== "string" || page["uri"] === "") return undefined;
  return { url: page["uri"], title: typeof page["title"] === "string" ? page["title"] : "" };
}

type Place = { start_index: number; end_index: number };

/** Gemini counts UTF-8 bytes; a missing start is 0. */
function placeOf(segment: unknown, content: string, charAt: (byte: number) => number | undefined): Place | undefined {
  if (!isObject(segment)) return undefined;
  const { startIndex = 0, endIndex, text } = segment;
  if (typeof startIndex !== "number" || typeof endIndex !== "number") return undefined;
  const [start_index, end_index] = [charAt(startIndex), charAt(endIndex)];
  if (start_index === undefined || end_index === undefined || end_index <= start_index) return undefined;
  if (typeof text === "string" && content.slice(start_index, end_index) !== text) return undefined;
  return { start_index, end_index };
}

/** Maps the UTF-8 byte offset of a character's start to its index; undefined within a character, and beyond the end. */
function charsByByte(content: string): (byte: number) => number | undefined {
  const length = Buffer.byteLength(content);
  if (length === content.length) return (byte) => (byte >= 0 && byte <= length ? byte : undefined);
  const chars = new Map<number, number>();
  let [byte, char] = [0, 0];
  for (const one of content) {
    chars.set(byte, char);
    byte += Buffer.byteLength(one);
    char += one.length;
  }
  chars.set(byte, char);
  return (at) => chars.get(at);
}
