const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/**
 * Whether a code names a language: ISO 639-1, or ISO 639-3 for a language without a two-letter code, with an optional
 * region or script. `auto` lets the model detect the language.
 */
export function isLanguage(code: string): boolean {
  if (code === "auto") return true;
  try {
    return names.of(code.replaceAll("_", "-")) !== undefined;
  } catch {
    return false;
  }
}
