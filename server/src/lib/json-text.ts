/** Functions on JSON text that do not parse it. All are linear in its length, whatever it contains. */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * An upper bound of the keys and values in the text, so that a small body that would parse into gigabytes is detected
 * before parsing. Stops as soon as `max` is exceeded.
 */
export function countJsonNodes(bytes: Buffer, max: number): number {
  let nodes = 1;
  for (let at = 0; at < bytes.length && nodes <= max; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = closingQuoteByte(bytes, at + 1);
    else if (byte === comma || byte === colon || byte === openBracket || byte === openBrace) nodes += 1;
  }
  return nodes;
}

/**
 * The engine has a dozen internal kinds of strings (slices, two-byte ones, names …). If many kinds occur at one call
 * site, a method or length read from the string itself is looked up each time, at several times the cost of the
 * character.
 */
function codeAt(text: string, at: number): number {
  return String.prototype.charCodeAt.call(text, at);
}

/**
 * Whether the text contains `count` digits in a row. Every such run covers one of the checked places, so the others are
 * skipped.
 */
export function holdsDigits(text: string, count: number): boolean {
  const { length } = text;
  for (let at = count - 1; at < length; at += count) {
    if (!isDigit(codeAt(text, at))) continue;
    let from = at;
    let end = at + 1;
    while (isDigit(codeAt(text, from - 1))) from -= 1;
    while (end - from < count && isDigit(codeAt(text, end))) end += 1;
    if (end - from >= count) return true;
  }
  return false;
}

/** False for NaN, the code beyond the ends of a text. */
function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Replaces Python's bare NaN and Infinity outside strings by null: the first `max` of them. */
export function nullNonFinite(text: string, max: number): string {
  return replaceOutsideStrings(text, /"|-?(?:NaN|Infinity)/g, max, () => "null");
}

/** Replaces integers that a double cannot hold by strings of `mark` and their digits. The text must be JSON. */
export function quoteLongIntegers(text: string, mark: string): string {
  const longInteger = /"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
  return replaceOutsideStrings(text, longInteger, Number.POSITIVE_INFINITY, (digits) =>
    Number.isSafeInteger(Number(digits)) ? digits : `"${mark}${digits}"`,
  );
}

/** `pattern` is global and must match the opening quotes of strings. */
function replaceOutsideStrings(text: string, pattern: RegExp, max: number, replace: (token: string) => string): string {
  const parts: string[] = [];
  let copied = 0;
  let left = max;
  for (let match = pattern.exec(text); match !== null && left > 0; match = pattern.exec(text)) {
    if (match[0] === '"') {
      pattern.lastIndex = closingQuote(text, pattern.lastIndex) + 1;
      continue;
    }
    parts.push(text.slice(copied, match.index), replace(match[0]));
    copied = pattern.lastIndex;
    left -= 1;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

/** Returns where the string with content from `from` is closed; the end of the text if it is not. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

function closingQuoteByte(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(quote, from); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}
