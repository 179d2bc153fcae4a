import type { Operator } from "./ast.ts";
import type { SqlScope, TextForm } from "./catalogue.ts";
import { limits } from "../limits.ts";
import {
  anchoredPattern,
  commonPiece,
  needlesOf,
  nestedPatterns,
  type JsonNeedle,
  type JsonNeedles,
} from "./json-needles.ts";
import { areCaseless, escapeRegExp, foldedRe2Pattern } from "./text.ts";

type Search = { needles: readonly string[]; form: TextForm; scope: SqlScope };

/** A search for any of some texts in the expression `value`: `startswith`, `endswith`, `iexact`, `contains` or `icontains`. */
export function textSearchSql(operator: Operator, value: string, search: Search): string {
  const { needles, scope } = search;
  const test = (name: string) => (needle: string) => `${name}(${value}, ${scope.bind("String", needle)})`;
  if (operator === "startswith") return both("OR", needles.map(test("startsWith")));
  if (operator === "endswith") return both("OR", needles.map(test("endsWith")));
  if (operator === "iexact") {
    const patterns = needles.map((needle) => `^(?:${foldedRe2Pattern(needle)})$`);
    return matchSql(value, patterns, { flags: "(?is)", scope });
  }
  const isFolded = operator === "icontains" && !areCaseless(needles);
  // Of a few needles exact search is faster, one by one.
  if (!isFolded && needles.length <= limits.nestedSearchTexts) return exactSql(value, search);
  return patternSql(value, isFolded, search);
}

export function both(operator: "AND" | "OR", parts: readonly string[]): string {
  if (parts.length === 0) return operator === "AND" ? "1" : "0";
  return parts.length === 1 ? String(parts[0]) : `(${parts.join(` ${operator} `)})`;
}

function exactSql(value: string, { needles, form, scope }: Search): string {
  const search = (text: string) => `position(${value}, ${scope.bind("String", text)}) > 0`;
  if (form === "plain") return both("OR", needles.map(search));
  const parts = needlesOf(needles, form, false).map(([needle, forms]) => {
    const found = inStrings(value, forms, { search, scope });
    if (form === "either" && !forms.own.some(({ text }) => text === needle)) found.unshift(search(needle));
    const any = both("OR", found);
    return found.length === 1 ? any : `(${mayHoldSql(value, textsOf(needle, forms), scope)} AND ${any})`;
  });
  return both("OR", parts);
}

function inStrings(
  value: string,
  { own, nested }: JsonNeedles,
  { search, scope }: { search: (text: string) => string; scope: SqlScope },
): string[] {
  const parts = own.map((one) => {
    const anchored = anchoredPattern(one, escapeRegExp);
    if (anchored === undefined) return search(one.text);
    return `(${search(one.text)} AND ${matchSql(value, [anchored], { flags: "(?s)", scope })})`;
  });
  return [...parts, ...inNested(value, nestedPatterns(nested, escapeRegExp), { flags: "(?s)", scope })];
}

function inNested(
  value: string,
  levels: ReturnType<typeof nestedPatterns>,
  how: { flags: string; scope: SqlScope },
): string[] {
  return levels.map(([within, patterns]) => matchSql(value, patterns, { ...how, within }));
}

function textsOf(needle: string, { own, nested }: JsonNeedles): string[] {
  return [...new Set([needle, ...[...own, ...nested].map(({ text }) => text)])];
}

/**
 * One pass over a text that holds none of the needles, which most do not. The engine is fastest by a piece that all of them have;
 * where an escape is all there is to a needle, several are faster looked for side by side.
 */
function mayHoldSql(value: string, texts: readonly string[], scope: SqlScope): string {
  if (commonPiece(texts[0] ?? "") === undefined)
    return `multiSearchAny(${value}, ${scope.bind("Array(String)", texts)})`;
  return matchSql(value, texts.map(escapeRegExp), { flags: "(?s)", scope });
}

/**
 * Many needles are looked for in one pass over the text. One after the other they could take minutes on a row of many
 * megabytes, within which the engine does not look at the time.
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
    all.push(...textsOf(needle, found).map(toPattern));
  }
  const inString = matchSql(value, own, how);
  if (nested.length === 0) return inString;
  const anywhere = [inString, ...inNested(value, nestedPatterns(nested, toPattern), how)];
  return `(${matchSql(value, all, how)} AND ${both("OR", anywhere)})`;
}

/** Whether any of the patterns matches, in as few pieces as RE2 is fast with. */
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

/** Patterns of a bounded length: RE2 gives up on the longest, and becomes slow before. */
function alternations(patterns: readonly string[]): string[] {
  const joined: string[] = [];
  for (const pattern of patterns) {
    const last = joined.at(-1);
    if (last === undefined || last.length + pattern.length > limits.searchPatternChars) joined.push(pattern);
    else joined[joined.length - 1] = `${last}|${pattern}`;
  }
  return joined;
}
