/**
 * Decodes a JSON string inside a string, as some exporters encode every value: `"\"hello\""` becomes `hello`. Any other
 * text is returned unchanged.
 */
export function wordIn(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}
