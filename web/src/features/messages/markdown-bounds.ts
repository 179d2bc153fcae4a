/** Longer texts are cut before they are read as Markdown. */
export const markdownChars = 40_000;

const linesAtMost = 3000;

/**
 * Text that no Markdown renderer should be given: too long, nested hundreds of levels deep, or made of openings without an end, which
 * take time that grows with the square of their number.
 */
export function isPlainForm(text: string): boolean {
  if (text.length > markdownChars || text.split("\n", linesAtMost + 1).length > linesAtMost) return true;
  if (/^(?:[ \t]*(?:>|[-*+][ \t]|\d+[.)][ \t])){40}/m.test(text)) return true;
  return openings.some((pattern) => (text.match(pattern)?.length ?? 0) > 1500);
}

const openings = [/\[/g, /</g, /\*+/g, /_+/g, /`+/g, /!\[/g, /\]\(/g, /\|/g];
