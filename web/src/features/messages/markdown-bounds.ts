/** Longer texts are truncated before Markdown parsing. */
export const markdownChars = 40_000;

const linesAtMost = 3000;

/**
 * Whether a text must not be parsed as Markdown: too long, nested hundreds of levels deep, or full of unclosed
 * delimiters, which take quadratic time.
 */
export function isPlainForm(text: string): boolean {
  if (text.length > markdownChars || text.split("\n", linesAtMost + 1).length > linesAtMost) return true;
  if (/^(?:[ \t]*(?:>|[-*+][ \t]|\d+[.)][ \t])){40}/m.test(text)) return true;
  return openings.some((pattern) => (text.match(pattern)?.length ?? 0) > 1500);
}

const openings = [/\[/g, /</g, /\*+/g, /_+/g, /`+/g, /!\[/g, /\]\(/g, /\|/g];
