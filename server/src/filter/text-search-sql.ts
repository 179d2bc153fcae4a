import type { Operator } from "./ast.ts";
import type { SqlScope, TextForm } from "./catalogue.ts";
import { filterLimits } from "./limits.ts";
import {
  anchoredPattern,
  boundaryPattern,
  commonPiece,
  needlesOf,
  nestedPatterns,
  type JsonNeedle,
  type JsonNeedles,
} from "./json-needles.ts";
import { areCaseless, asciiSpellings, escapeRegExp, foldedRe2Pattern } from "./text.ts";

type Search = { needles: readonly string[]; form: TextForm; scope: SqlScope };

/**
 * Searches the expression `value` for any of the texts: `startswith`, `endswith`, `iexact`, `contains` or `icontains`.
 */
export function textSearchSql(operator: Operator, value: string, search: Search): string {
  const { needles, form, scope } = search;
  const test = (name: string) => (needle: string) => `${name}(${value}, ${scope.bind("String", needle)})`;
  if (operator === "startswith") return both("OR", needles.map(test("startsWith")));
  if (operator === "endswith") return both("OR", needles.map(test("endsWith")));
  if (operator === "iexact") {
    const patterns = needles.map((needle) => `^(?:${foldedRe2Pattern(needle)})$`);
    return matchSql(value, patterns, { flags: "(?is)", scope });
  }
  const isFolded = operator === "icontains" && !areCaseless(needles);
  if (needles.length > filterLimits.nestedSearchTexts) return patternSql(value, isFolded, search);
  const within: Within = { value, scope, isFolded, ...(isFolded ? folded : exact) };
  if (form === "plain") return literalSql(within, needles);
  return both(
    "OR",
    needlesOf(needles, form, isFolded).map(([needle, forms]) => jsonSql(within, needle, forms, form)),
  );
}

export function both(operator: "AND" | "OR", parts: readonly string[]): string {
  if (parts.length === 0) return operator === "AND" ? "1" : "0";
  return parts.length === 1 ? String(parts[0]) : `(${parts.join(` ${operator} `)})`;
}

/** The searched expression, and how case is treated. */
type Within = Folding & { value: string; scope: SqlScope; isFolded: boolean };
type Folding = {
  /** Flags of patterns. */
  flags: string;
  toPattern: (text: string) => string;
  /** The engine's search for several literal texts. */
  anyOf: string;
  /**
   * The texts that `anyOf` has to search for; undefined if it cannot match the text with the filter language's
   * semantics.
   */
  spellings: (text: string) => string[] | undefined;
};

const exact: Folding = {
  flags: "(?s)",
  toPattern: escapeRegExp,
  anyOf: "multiSearchAny",
  spellings: (text) => [text],
};
const folded: Folding = {
  flags: "(?is)",
  toPattern: foldedRe2Pattern,
  anyOf: "multiSearchAnyCaseInsensitive",
  spellings: asciiSpellings,
};

// The engine finds literal texts several times as fast as a pattern; with this many the speed is about equal.
const literalTexts = 16;

/** Whether the value contains any of the texts. */
function literalSql(within: Within, texts: readonly string[]): string {
  const { value, scope, isFolded, anyOf, flags, toPattern } = within;
  const spelt = spellingsOf(within, texts);
  if (spelt === undefined) return matchSql(value, texts.map(toPattern), { flags, scope });
  const [first = ""] = spelt;
  if (spelt.length === 1 && !isFolded) return `position(${value}, ${scope.bind("String", first)}) > 0`;
  return `${anyOf}(${value}, ${scope.bind("Array(String)", spelt)})`;
}

function spellingsOf({ spellings }: Folding, texts: readonly string[]): string[] | undefined {
  const spelt = texts.map(spellings);
  const all = spelt.flatMap((one) => one ?? []);
  // These functions do not accept an empty text, which matches everywhere.
  return spelt.includes(undefined) || all.length > literalTexts || all.includes("") ? undefined : [...new Set(all)];
}

/**
 * Runs the most expensive tests last, only on values that contain what all forms of the needle have in common, which
 * most values do not.
 */
function jsonSql(within: Within, needle: string, { own, nested }: JsonNeedles, form: TextForm): string {
  const { value, scope, flags, toPattern } = within;
  const isAnchored = (one: JsonNeedle) => anchoredPattern(one, escapeRegExp) !== undefined;
  const anchored = own.filter(isAnchored);
  const plain = own.filter((one) => !isAnchored(one)).map(({ text }) => text);
  if (form === "either" && !own.some(({ text }) => text === needle)) plain.unshift(needle);
  const parts = plain.length === 0 ? [] : [literalSql(within, plain)];
  parts.push(...anchored.map((one) => anchoredSql(within, one)));
  for (const [start, patterns] of nestedPatterns(nested, toPattern))
    parts.push(matchSql(value, patterns, { flags, scope, within: start }));
  const texts = [...new Set([...plain, ...[...anchored, ...nested].map(({ text }) => text)])];
  return both("AND", [
    ...mayContainSql(within, needle, texts, parts.length === 1 && anchored.length === 0),
    both("OR", parts),
  ]);
}

/** @param isWhole whether a search for the texts is the whole test */
function mayContainSql(within: Within, needle: string, texts: readonly string[], isWhole: boolean): string[] {
  const tests = isWhole ? [] : [literalSql(within, texts)];
  const piece = commonPiece(needle, within.isFolded);
  // Searching for one literal text is as fast as searching for a piece of it.
  const isSlow = texts.length > 1 || spellingsOf(within, texts) === undefined;
  if (isSlow && piece !== undefined && piece !== needle) tests.unshift(literalSql(within, [piece]));
  return tests;
}

/** A text that could begin inside an escape. After a blank or a quote it cannot, which is tested without a pattern. */
function anchoredSql(within: Within, one: JsonNeedle): string {
  const { value, scope, flags, toPattern } = within;
  const pattern = matchSql(value, [boundaryPattern(one, toPattern)], { flags, scope });
  const starts = [` ${one.text}`, `"${one.text}`];
  return spellingsOf(within, starts) === undefined ? pattern : both("OR", [literalSql(within, starts), pattern]);
}

/**
 * Searches for many needles in one pass. One after the other they could take minutes on a row of many megabytes, during
 * which the engine does not check its time limit.
 */
function patternSql(value: string, isFolded: boolean, { needles, form, scope }: Search): string {
  const toPattern = isFolded ? foldedRe2Pattern : escapeRegExp;
  const how = { flags: isFolded ? "(?is)" : "(?s)", scope };
  const own: string[] = [];
  const nested: JsonNeedle[] = [];
  const all: string[] = [];
  if (form === "plain") return matchSql(value, needles.map(toPattern), how);
  for (const [needle, found] of needlesOf(needles, form, isFolded)) {
    if (form === "either" && !found.own.some(({ text }) => text === needle)) own.push(toPattern(needle));
    own.push(...found.own.map((one) => anchoredPattern(one, toPattern) ?? toPattern(one.text)));
    nested.push(...found.nested);
    all.push(...[needle, ...[...found.own, ...found.nested].map(({ text }) => text)].map(toPattern));
  }
  const inString = matchSql(value, own, how);
  if (nested.length === 0) return inString;
  const anywhere = [
    inString,
    ...nestedPatterns(nested, toPattern).map(([start, patterns]) =>
      matchSql(value, patterns, { ...how, within: start }),
    ),
  ];
  return `(${matchSql(value, all, how)} AND ${both("OR", anywhere)})`;
}

/** Whether any of the patterns matches, split into as few parts as RE2 is fast with. */
function matchSql(
  value: string,
  patterns: readonly string[],
  { flags, scope, within = "" }: { flags: string; scope: SqlScope; within?: string },
): string {
  const joined = alternations([...new Set(patterns)]);
  return both(
    "OR",
    joined.map((pattern) => {
      const whole = within === "" ? pattern : `${within}(?:${pattern})`;
      return `match(${value}, ${scope.bind("String", flags + whole)})`;
    }),
  );
}

/** Joins patterns up to a bounded length: RE2 fails on very long ones, and gets slow before that. */
function alternations(patterns: readonly string[]): string[] {
  const joined: string[] = [];
  for (const pattern of patterns) {
    const last = joined.at(-1);
    if (last === undefined || last.length + pattern.length > filterLimits.searchPatternChars) joined.push(pattern);
    else joined[joined.length - 1] = `${last}|${pattern}`;
  }
  return joined;
}
