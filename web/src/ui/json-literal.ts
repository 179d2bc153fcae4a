/**
 * The beginning of a text as a JSON literal on one line: characters that would change its display are escaped. With
 * quotes, or as a name without.
 */
export function literalText(text: string, chars: number, isQuoted: boolean): string {
  const isTruncated = text.length > chars;
  const quoted = JSON.stringify(isTruncated ? text.slice(0, chars) : text).replace(invisible, escaped);
  const shown = isQuoted || !/^[\w$.-]+$/.test(text) ? quoted : quoted.slice(1, -1);
  return isTruncated ? `${shown.slice(0, -1)}…` : shown;
}

// JSON.stringify itself escapes C0 controls and unpaired surrogates.
const invisible =
  /[\u007F-\u009F\u00AD\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

const escaped = (char: string): string =>
  Array.from({ length: char.length }, (_value, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    "",
  );
