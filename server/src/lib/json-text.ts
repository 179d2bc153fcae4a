/** What can be told of JSON text without parsing it. All are linear in its length, whatever it holds. */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * At most how many keys and values the text holds, so that a small body that would parse into gigabytes is known
 * before it does. Stops as soon as `max` is passed.
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
 * The engine has a dozen kinds of text (parts of others, two-byte ones, names …). Where many come, what is read off the text itself,
 * a method or its length, is looked up anew each time, at several times the cost of the character.
 */
function codeAt(text: string, at: number): number {
  return String.prototype.charCodeAt.call(text, at);
}

/** Whether so many digits stand in a row. Each such row covers a place that is looked at: the others need not be. */
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

/** Beyond its ends a text has NaN for codes. */
function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Python's bare NaN and Infinity, outside strings, as null: the first `max` of them. */
export function nullNonFinite(text: string, max: number): string {
  return replaceOutsideStrings(text, /"|-?(?:NaN|Infinity)/g, max, () => "null");
}

/** Integers that a double cannot hold as strings of `mark` and their digits. The text must be JSON. */
export function quoteLongIntegers(text: string, mark: string): string {
  const longInteger = /"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
  return replaceOutsideStrings(text, longInteger, Number.POSITIVE_INFINITY, (digits) =>
    Number.isSafeInteger(Number(digits)) ? digits : `"${mark}${digits}"`,
  );
}

/** `pattern` is global and must match the quotes that strings begin with. */
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

/** Where the string whose inside begins at `from` is closed; the end of the text where it never is. */
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
