/**
 * Python's own text of a dict or a list of plain values, as JSON text: `{'audio': 0, 'text': None}`. Undefined where it is
 * none, or where quotes within texts make it uncertain.
 */
export function jsonOfPython(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || text.includes('"') || text.includes("\\")) return undefined;
  // Between two quotes of a text there is none: what follows its end is a separator.
  if (/\w'\w/.test(text)) return undefined;
  return text
    .replaceAll("'", '"')
    .replaceAll(/\bNone\b/g, "null")
    .replaceAll(/\bTrue\b/g, "true")
    .replaceAll(/\bFalse\b/g, "false");
}
