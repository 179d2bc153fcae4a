/**
 * Converts Python's text of a dict or a list of plain values to JSON text: `{'audio': 0, 'text': None}`. Undefined if
 * it is not such a text, or if quotes within texts make it ambiguous.
 */
export function jsonOfPython(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || text.includes('"') || text.includes("\\")) return undefined;
  // An apostrophe within a word makes the quotes ambiguous: a closing quote is followed by a separator.
  if (/\w'\w/.test(text)) return undefined;
  return text
    .replaceAll("'", '"')
    .replaceAll(/\bNone\b/g, "null")
    .replaceAll(/\bTrue\b/g, "true")
    .replaceAll(/\bFalse\b/g, "false");
}
