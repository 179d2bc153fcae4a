const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/**
 * Whether a code names a language: ISO 639-1, three letters of ISO 639-3 where a language has no two, a region or script after it.
 * `auto` asks the model to find out.
 */
export function isLanguage(code: string): boolean {
  if (code === "auto") return true;
  try {
    return names.of(code.replaceAll("_", "-")) !== undefined;
  } catch {
    return false;
  }
}
