import type { Environment } from "./principal.ts";

/**
 * Media that spans contain is stored once for each organization and content; spans refer to it.
 * `text` is what stood in the span: a base64 data URI, or bare base64, with its line breaks.
 */
export type Media = { id: string; media_type: string; text: string };

/** Whose spans have to refer to media for it to be read: an organization's, or those of one trace of it. */
export type MediaOwner = {
  organization_id: string;
  trace?: { trace_unique_id: string; environments: readonly Environment[] };
};

/** What stands in a stored span in place of media; `id` is the SHA-256 of what it replaces, in hexadecimal. */
export const mediaReference = (id: string): string => `/api/media/${id}/`;

export const mediaId = /^[0-9a-f]{64}$/;

export const mediaReferences = (): RegExp => /\/api\/media\/([0-9a-f]{64})\//g;

/**
 * JSON text with the texts of media (by id) in place of the references. Base64 needs no escaping in JSON. A line break does, once for
 * each string that it lies in: JSON in a string of JSON is common.
 */
export function putMediaBack(json: string, texts: ReadonlyMap<string, string>): string {
  const isBroken = [...texts.values()].some((text) => text.includes("\n"));
  const depths = isBroken ? depthsOfReferences(json) : [];
  let count = 0;
  return json.replaceAll(mediaReferences(), (reference, id: string) => {
    let text = texts.get(id) ?? reference;
    for (let depth = depths[count++] ?? 0; depth > 0; depth -= 1) text = JSON.stringify(text).slice(1, -1);
    return text;
  });
}

/** How many strings each reference of JSON text lies in, in order. */
function depthsOfReferences(json: string): number[] {
  const depths: number[] = [];
  for (let open = json.indexOf('"'); open !== -1;) {
    const close = closingQuote(json, open);
    const string = json.slice(open, close + 1);
    const count = string.match(mediaReferences())?.length ?? 0;
    if (count > 0) depths.push(...depthsInString(string, count));
    open = json.indexOf('"', close + 1);
  }
  return depths;
}

function depthsInString(string: string, count: number): number[] {
  const outer = Array.from({ length: count }, () => 1);
  try {
    const value = JSON.parse(string) as string;
    if (!/^\s*["[{]/.test(value)) return outer;
    JSON.parse(value);
    const inner = depthsOfReferences(value).map((depth) => depth + 1);
    return inner.length === count ? inner : outer;
  } catch {
    return outer;
  }
}

function closingQuote(json: string, open: number): number {
  for (let at = json.indexOf('"', open + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let from = at;
    while (json[from - 1] === "\\") from -= 1;
    if ((at - from) % 2 === 0) return at;
  }
  return json.length;
}
