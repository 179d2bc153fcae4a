/** What can be told of JSON text without parsing it. Both are linear in its length, whatever it holds. */

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

/** Python's bare NaN and Infinity, outside strings, as null. */
export function nullNonFinite(text: string): string {
  const token = /"|-?(?:NaN|Infinity)/g;
  let result = "";
  let copied = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '"') {
      token.lastIndex = closingQuote(text, token.lastIndex) + 1;
      continue;
    }
    result += `${text.slice(copied, match.index)}null`;
    copied = token.lastIndex;
  }
  return result + text.slice(copied);
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
