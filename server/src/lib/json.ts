import { randomUUID } from "node:crypto";

/**
 * JSON as clients actually send it: digits beyond 2^53 are kept, Python's bare NaN/Infinity are read as null, lone
 * surrogates and NUL become U+FFFD. JSON.stringify can write the values back without loss.
 */

export type JsonParse = { ok: true; value: unknown } | { ok: false; message: string };

// A \u escape that may produce a lone surrogate or a NUL.
const suspectEscape = /\\u(?:d[89a-f]|0000)/i;

// A text with more is not a document that a client intended to send.
const maxRepairs = 500_000;

const nothing = /^$/;

/** Parses a request body. Bytes that are not UTF-8 are read as U+FFFD. */
export function parseJson(bytes: Buffer): JsonParse {
  return parseJsonText(textOf(bytes));
}

/** The same for bodies that are forwarded unchanged: a bare NaN is not valid JSON. */
export function parseStrictJson(bytes: Buffer): JsonParse {
  const text = textOf(bytes);
  return cleaned(text, parseStandard(text));
}

/** The same for text, such as JSON inside a JSON string. */
export function parseJsonText(text: string): JsonParse {
  return cleaned(text, parseText(text));
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function cleaned(text: string, parsed: JsonParse): JsonParse {
  const isSuspect = parsed.ok && text.includes("\\u") && suspectEscape.test(text);
  clearMatchedText();
  return parsed.ok && isSuspect ? { ok: true, value: cleanDeep(parsed.value) } : parsed;
}

/**
 * The engine retains the text of the last successful match until the next one: here that may be a body of megabytes.
 */
function clearMatchedText(): void {
  nothing.test("");
}

function parseText(text: string): JsonParse {
  const parsed = parseStandard(text);
  if (parsed.ok || !/NaN|Infinity/.test(text)) return parsed;
  try {
    return { ok: true, value: parseKeepingDigits(nullNonFinite(text, maxRepairs)) };
  } catch {
    return parsed;
  }
}

function parseStandard(text: string): JsonParse {
  try {
    return { ok: true, value: parseKeepingDigits(text) };
  } catch (error) {
    return { ok: false, message: shorten(error instanceof Error ? error.message : "not JSON") };
  }
}

// V8 quotes the source in its messages; a body is payload and must not get into errors and logs.
function shorten(message: string): string {
  const position = /at position (\d+)/.exec(message);
  if (position) return `not valid JSON at character ${position[1]}`;
  return message.includes("end of JSON") ? "not valid JSON: it ends too early" : "not valid JSON";
}

/**
 * Parses standard JSON, except that long integers keep their digits. Throws what JSON.parse throws. A reviver would see
 * the digits too, at several times the cost, for every value of the text.
 */
export function parseKeepingDigits(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  // Scanning the text costs less than traversing the value.
  if (!holdsDigits(text, unsafeDigits) || !holdsUnsafeInteger(value, maxSearchDepth)) return value;
  // It cannot be guessed, so no text of a client is mistaken for digits.
  const mark = randomUUID();
  return unquoteIntegers(JSON.parse(quoteLongIntegers(text, mark)), mark);
}

/** Turns the marked strings of a tree into raw numbers. Iterative, like `cleanDeep`. */
function unquoteIntegers(root: unknown, mark: string): unknown {
  const box = { root };
  const pending: unknown[] = [box];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const holder = next as Record<string, unknown>;
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (typeof value === "object" && value !== null) pending.push(value);
      else if (typeof value === "string" && value.startsWith(mark)) holder[key] = rawJson(value.slice(mark.length));
    }
  }
  return box.root;
}

/** 2^53 has sixteen digits. */
const unsafeDigits = 16;

// Readers refuse deeper trees; the search only must not overflow the stack.
const maxSearchDepth = 512;

function holdsUnsafeInteger(value: unknown, depthLeft: number): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null || depthLeft === 0) return false;
  const members = Array.isArray(value) ? (value as unknown[]) : Object.values(value);
  // Most members are text: checking the type here saves a call for each.
  return members.some((member) => typeof member !== "string" && holdsUnsafeInteger(member, depthLeft - 1));
}

/** A number stored as its digits because a double cannot hold it. */
export type RawNumber = { readonly rawJSON: string };

// Shipped in V8 since Node 21, not yet in TypeScript's library.
type JsonWithRaw = typeof JSON & { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): boolean };
const jsonWithRaw = JSON as JsonWithRaw;

/** Embeds the JSON text of a primitive into a value; JSON.stringify writes it unchanged. */
export function rawJson(text: string): RawNumber {
  return jsonWithRaw.rawJSON(text);
}

export function isRawNumber(value: unknown): value is RawNumber {
  return jsonWithRaw.isRawJSON(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/**
 * Whether a text may be an object. Streams contain many texts that are not, and for each the parser would create an
 * error, which takes longer than reading a hundred that are.
 */
export function mayBeObject(text: string): boolean {
  let from = 0;
  let to = text.length - 1;
  while (from < to && isBlankOrMark(text.charCodeAt(from))) from += 1;
  while (from < to && isBlankOrMark(text.charCodeAt(to))) to -= 1;
  return text[from] === "{" && text[to] === "}";
}

const isBlankOrMark = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0xfeff;

/** Parses a text as an object; undefined if it is not one. */
export function parseObjectText(text: string): Record<string, unknown> | undefined {
  const parsed = mayBeObject(text) ? parseJsonText(text) : undefined;
  return parsed?.ok === true && isObject(parsed.value) ? parsed.value : undefined;
}

/** The text well-formed and without NUL: both are replaced by U+FFFD. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}

/** Applies `clean` to every string of a tree, keys included. Iterative: depth costs memory, not stack. */
export function cleanDeep(root: unknown, clean: (text: string) => string = cleanText): unknown {
  const box: Record<string, unknown> = { root };
  const pending: Array<{ holder: Record<string, unknown> | unknown[]; key: string | number }> = [
    { holder: box, key: "root" },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const holder = next.holder as Record<string | number, unknown>;
    const value = holder[next.key];
    if (typeof value === "string") holder[next.key] = clean(value);
    else if (Array.isArray(value)) for (let i = 0; i < value.length; i += 1) pending.push({ holder: value, key: i });
    else if (isObject(value)) {
      const cleaned = cleanKeys(value, clean);
      holder[next.key] = cleaned;
      for (const key of Object.keys(cleaned)) pending.push({ holder: cleaned, key });
    }
  }
  return box["root"];
}

function cleanKeys(object: Record<string, unknown>, clean: (text: string) => string): Record<string, unknown> {
  if (Object.keys(object).every((key) => clean(key) === key)) return object;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [clean(key), value]));
}

/**
 * Returns which bound a value exceeds: it nests deeper than `maxDepth`, or has more than `maxNodes` keys and values.
 */
export function exceedsShape(value: unknown, maxDepth: number, maxNodes: number): "depth" | "nodes" | undefined {
  const nodes = countNodes(value, maxDepth, maxNodes);
  return typeof nodes === "number" ? undefined : nodes;
}

/**
 * The number of keys and values in a value, itself included; or the bound that it exceeds. Recursion is bounded by
 * `maxDepth`.
 */
export function countNodes(value: unknown, maxDepth: number, maxNodes: number): number | "depth" | "nodes" {
  let nodes = 0;
  let keys = 0;
  const visit = (current: object, depthLeft: number): "depth" | "nodes" | undefined => {
    if (depthLeft === 0) return "depth";
    if (Array.isArray(current)) {
      nodes += current.length;
      if (nodes > maxNodes) return "nodes";
      for (const child of current as unknown[]) {
        const problem = typeof child === "object" && child !== null && visit(child, depthLeft - 1);
        if (problem) return problem;
      }
      return undefined;
    }
    // `Object.values` would allocate a list for each object.
    for (const name in current) {
      nodes += 1;
      keys += 1;
      if (nodes > maxNodes) return "nodes";
      const child = (current as Record<string, unknown>)[name];
      const problem = typeof child === "object" && child !== null && visit(child, depthLeft - 1);
      if (problem) return problem;
    }
    return undefined;
  };
  const problem = typeof value === "object" && value !== null ? visit(value, maxDepth) : undefined;
  return problem ?? 1 + nodes + keys;
}

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
function quoteLongIntegers(text: string, mark: string): string {
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
