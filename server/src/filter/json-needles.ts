import { filterLimits } from "./limits.ts";
import type { TextForm } from "./catalogue.ts";
import { escapeRegExp } from "./text.ts";

/**
 * The form of a text in a string of JSON text (level 1), or in JSON text that is the content of such a string (2, 3).
 */
export type JsonNeedle = { text: string; level: number };

/**
 * The forms of a text inside JSON text, so that a search finds its decoded content: in a string (`own`), and in a
 * string of JSON that is itself the content of a string (`nested`), such as the arguments of a tool call.
 */
export type JsonNeedles = { own: readonly JsonNeedle[]; nested: readonly JsonNeedle[] };

/** The form of a text inside a JSON string that JavaScript wrote. */
function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

type Escape = (text: string) => string;

/** `\u00fc`, per UTF-16 unit. */
const lowerHex: Escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
const upperHex: Escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

const python: Escape = (text) => jsonEscaped(text).replace(/[^\0-\x7f]/g, lowerHex);

/** The escaping of the JSON writers in common use: they differ in what they escape, and how. */
const writers: readonly Escape[] = [
  jsonEscaped,
  python,
  // PHP
  (text) => python(text).replaceAll("/", "\\/"),
  // Go
  (text) => jsonEscaped(text).replace(/[<>&\u2028\u2029]/g, lowerHex),
  // .NET
  (text) =>
    jsonEscaped(text).replace(/\\\\|\\"|[&'+<>`]|[^\0-\x7f]/g, (part) =>
      part === "\\\\" ? part : upperHex(part.slice(-1)),
    ),
];

/**
 * JSON that Spanway stores parsed is serialized by Spanway, so only JSON nested in it has foreign escaping; text that
 * may be JSON (`either`) is stored as sent. Searches cover two levels of nesting, as the result of a tool is often JSON
 * in JSON. If case is folded, letters that a writer escapes are searched as given, in lower case and in upper case.
 */
function jsonNeedles(needle: string, form: Exclude<TextForm, "plain">, isFolded: boolean): JsonNeedles {
  const levels = [new Set<string>([jsonEscaped(needle)]), new Set<string>(), new Set<string>()] as const;
  const isSame = new RegExp(`^${escapeRegExp(needle)}$`, "iu");
  const quoted = isFolded
    ? [needle, ...[needle.toLowerCase(), needle.toUpperCase()].filter((text) => isSame.test(text))]
    : [needle];
  for (const text of quoted) for (const write of writers) addForms(text, { form, write, levels });
  const [first, ...nested] = levels;
  const known = new Set([...quoted, ...first]);
  return {
    own: [...first].map((text) => ({ text, level: 1 })),
    nested: nested.flatMap((texts, index) =>
      [...texts].filter((text) => !known.has(text)).map((text) => ({ text, level: index + 2 })),
    ),
  };
}

/** A search for many texts, or a long one, looks for each only in strings, with our own escaping. */
export function needlesOf(
  needles: readonly string[],
  form: Exclude<TextForm, "plain">,
  isFolded: boolean,
): Array<[needle: string, forms: JsonNeedles]> {
  const isDeep =
    needles.length <= filterLimits.nestedSearchTexts &&
    needles.every((needle) => needle.length <= filterLimits.nestedSearchChars);
  const shallow = (needle: string): JsonNeedles => ({ own: [{ text: jsonEscaped(needle), level: 1 }], nested: [] });
  return needles.map((needle) => [needle, isDeep ? jsonNeedles(needle, form, isFolded) : shallow(needle)]);
}

/**
 * A piece of a text that every writer leaves unchanged, long enough to search for. If case is folded, it has few
 * letters that non-ASCII letters fold to.
 */
export function commonPiece(text: string, isFolded = false): string | undefined {
  const pieces = isFolded ? /[a-jl-rt-z0-9 ]*(?:[ks][a-jl-rt-z0-9 ]*){0,2}/gi : /[a-z0-9 ]+/gi;
  const [longest = ""] = (text.match(pieces) ?? []).toSorted((a, b) => b.length - a.length);
  return longest.length < 2 ? undefined : longest;
}

type Levels = readonly [Set<string>, Set<string>, Set<string>];

function addForms(text: string, { form, write, levels }: { form: TextForm; write: Escape; levels: Levels }): void {
  const [first, second, third] = levels;
  const once = write(text);
  const twice = write(once);
  second.add(jsonEscaped(once));
  third.add(jsonEscaped(twice));
  if (form !== "either") return;
  first.add(once);
  second.add(twice);
  third.add(write(twice));
}

/** The pattern of a needle, undefined if a plain search is as exact. `toPattern` quotes literal text. */
export function anchoredPattern(needle: JsonNeedle, toPattern: Escape): string | undefined {
  return mayStartInsideEscape(needle.text) ? boundaryPattern(needle, toPattern) : undefined;
}

/**
 * Whether a plain search could find the needle inside an escape: `new` in the JSON text `a
 * ew` (a, newline, `ew`). Such searches are anchored at a valid boundary of the JSON string: not right after the
 * backslash of an escape.
 */
function mayStartInsideEscape(escaped: string): boolean {
  return /^[\\bfnrtu]/i.test(escaped);
}

export function boundaryPattern(needle: JsonNeedle, toPattern: Escape): string {
  return String.raw`(?:^|[^\\])` + alignedPattern(needle, toPattern);
}

/** Before the content of a level, backslashes are doubled per level: 2, 4 or 8 for each. */
function alignedPattern({ text, level }: JsonNeedle, toPattern: Escape): string {
  return `(?:${"\\\\".repeat(2 ** level)})*${toPattern(text)}`;
}

// RE2 patterns: the beginning of a nested level, and the text between that and a needle.
const begins = [String.raw`(?:^|[^\\])"(?:[\[{]|\\")`, String.raw`\\"(?:[\[{]|\\\\\\")`];
const between = String.raw`(?:(?:[^"\\]|\\.)*?(?:[^"\\]|\\[^\\]))??`;

/**
 * For RE2: the pattern before a needle within a string whose text begins as JSON does, and the patterns of the needles
 * of that level. `isWithinNestedJson` is the same in memory.
 */
export function nestedPatterns(
  needles: readonly JsonNeedle[],
  toPattern: Escape,
): Array<[within: string, patterns: string[]]> {
  const levels = [...new Set(needles.map(({ level }) => level))];
  return levels.map((level) => [
    begins
      .slice(0, level - 1)
      .map((begin) => begin + between)
      .join(""),
    needles.filter((one) => one.level === level).map((one) => alignedPattern(one, toPattern)),
  ]);
}

/** Whether `test` matches in any string, at this level, whose text begins as JSON does. */
export function isWithinNestedJson(json: string, level: number, test: (text: string) => boolean): boolean {
  for (const { index, 0: begin } of json.matchAll(/(?<!\\)"(?:[[{]|\\")/g)) {
    const from = index + begin.length;
    const text = json.slice(from, endOfString(json, from));
    const inner = level === 2 ? text : text.slice(endOfBegin(text));
    if (test(inner)) return true;
  }
  return false;
}

function endOfBegin(text: string): number {
  const begin = /(?<!\\)\\"(?:[[{]|\\\\\\")/.exec(text);
  return begin === null ? text.length : begin.index + begin[0].length;
}

function endOfString(json: string, from: number): number {
  let end = json.indexOf('"', from);
  while (end !== -1 && isEscaped(json, from, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, from: number, at: number): boolean {
  let first = at;
  while (first > from && json[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}
