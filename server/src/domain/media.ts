import type { Environment } from "./principal.ts";

/**
 * Media in spans is stored once per organization and content; spans refer to it. `text` is the original text in the
 * span: a base64 data URI, or bare base64, with its line breaks.
 */
export type Media = { id: string; media_type: string; text: string };

/** Whose spans must refer to media so that it may be read: an organization's, or those of one of its traces. */
export type MediaOwner = {
  organization_id: string;
  trace?: { trace_unique_id: string; environments: readonly Environment[] };
};

/** The text that replaces media in a stored span; `id` is the SHA-256 of the replaced text, in hexadecimal. */
export const mediaReference = (id: string): string => `/api/media/${id}/`;

export const mediaId = /^[0-9a-f]{64}$/;

export const mediaReferences = (): RegExp => /\/api\/media\/([0-9a-f]{64})\//g;

/**
 * Replaces the references in JSON text with the texts of the media (by id). Base64 needs no escaping in JSON. A line
 * break does, once per string that it is nested in: JSON inside a JSON string is common.
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

/** How many strings each reference in JSON text is nested in, in order. */
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
