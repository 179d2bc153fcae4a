/** The rules of text comparison that ClickHouse and the in-memory interpreter share. */

/**
 * A number as JSON writes it. Leading zeros, `+`, `.5` and blanks make it text: `007` is a code, not seven.
 * Valid and equal in RE2 and in JavaScript.
 */
export const numberPattern = "^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$";
const numberRegExp = new RegExp(numberPattern);

/** The number that a text represents, undefined if it is not a number or does not fit a double. */
export function numberOfText(text: string): number | undefined {
  if (!numberRegExp.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Whether a double distinguishes this number from its neighbours. Longer ones are mostly identifiers: they are equal
 * only to themselves, digit by digit, though they still order as numbers.
 */
export function isExactNumber(text: string): boolean {
  const digits = text
    .replace(/[eE].*$/s, "")
    .replace(/[-.]/g, "")
    .replace(/^0+/, "");
  return digits.length <= 15;
}

/** Orders by code point, which is the byte order of UTF-8 and therefore ClickHouse's. Negative if `a` is first. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return rankOfUnit(unitA) - rankOfUnit(unitB);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others, yet U+E000–U+FFFF have larger UTF-16 units. */
function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Whether every text is equal in upper and lower case: a search for it needs no folding. */
export function areCaseless(texts: readonly string[]): boolean {
  return texts.every((text) => text.toLowerCase() === text.toUpperCase());
}

/**
 * Spellings such that an ASCII case-insensitive search for any of them finds `text` in any case: the text itself, and
 * variants with the non-ASCII letters that fold to `k` and `s`. Undefined if other non-ASCII letters have case, or
 * there are too many spellings.
 */
export function asciiSpellings(text: string): string[] | undefined {
  if (!areCaseless([text.replaceAll(/[a-z]/gi, "")])) return undefined;
  let spellings = [""];
  for (const part of text.split(/([ks])/i)) {
    const parts = foldsToAscii[part.toLowerCase()] ?? [part];
    spellings = spellings.flatMap((start) => parts.map((one) => start + one));
    if (spellings.length > asciiSpellingsMax) return undefined;
  }
  return spellings;
}

const foldsToAscii: Record<string, readonly string[]> = { k: ["k", "\u212a"], s: ["s", "\u017f"] };
// A search for more texts at once is no faster than a pattern.
const asciiSpellingsMax = 4;

/**
 * Literal text as an RE2 pattern for use under `(?i)`, which folds case by Unicode simple folding as JavaScript's `iu`
 * does. RE2's tables are older than V8's, so letters with a case pair that JavaScript knows are written as a class.
 */
export function foldedRe2Pattern(text: string): string {
  let pattern = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    pattern += code < 0x80 ? escapeRegExp(character) : caseClass(character);
  }
  return pattern;
}

function caseClass(character: string): string {
  const lower = character.toLowerCase();
  const upper = character.toUpperCase();
  if (lower === upper) return character;
  const folds = new RegExp(`^${character}$`, "iu");
  const others = [lower, upper].filter((other) => other !== character && folds.test(other));
  return others.length === 0 ? character : `[${character}${others.join("")}]`;
}
