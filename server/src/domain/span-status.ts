/** Status words of senders, in lower case → the stored status. */
export const spanStatusWords: ReadonlyMap<string, "success" | "failed"> = new Map([
  ["success", "success"],
  ["succeeded", "success"],
  ["ok", "success"],
  ["failed", "failed"],
  ["failure", "failed"],
  ["error", "failed"],
]);

/** Returns `success` or `failed` for the words that senders use, in any case; other words are returned unchanged. */
export function spanStatusOf(word: string): string {
  return spanStatusWords.get(word.trim().toLowerCase()) ?? word;
}
