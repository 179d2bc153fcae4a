/** What senders say of how a span went, lower case → as it is stored. */
export const spanStatusWords: ReadonlyMap<string, "success" | "failed"> = new Map([
  ["success", "success"],
  ["succeeded", "success"],
  ["ok", "success"],
  ["failed", "failed"],
  ["failure", "failed"],
  ["error", "failed"],
]);

/** `success` or `failed` for the words that senders use, in any casing; a word of the sender's own stays as it is. */
export function spanStatusOf(word: string): string {
  return spanStatusWords.get(word.trim().toLowerCase()) ?? word;
}
