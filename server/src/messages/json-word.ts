/** The text in JSON text of a text, as some exporters write every value: `"\"hello\""` is `hello`. Any other text as it is. */
export function wordIn(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}
