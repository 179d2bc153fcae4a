import { familyOf, findField, queryFields, type QueryField } from "./fields.ts";
import { parseQuery, type Token } from "./parse-query.ts";
import { printValue, printWord } from "./print-query.ts";
import type { Range } from "./scanner.ts";

/**
 * The part of the query at the cursor. `typed` is the text up to the cursor, `replaces` the range of the whole part.
 */
export type Place =
  | { wants: "field"; typed: string; replaces: Range; isPresence: boolean }
  | { wants: "value"; typed: string; replaces: Range; field: QueryField; others: readonly string[] };

export type Suggestion = {
  label: string;
  detail: string;
  /** The number of spans with the value. */
  count?: number;
  /** The text that replaces `replaces`. */
  insert: string;
};

/** Values and metadata keys in the data; undefined until they are loaded. */
export type KnownValues = {
  values: ReadonlyArray<{ value: string; count: number }> | undefined;
  metadataKeys: ReadonlyArray<{ key: string; count: number }> | undefined;
};

/** Undefined if nothing can be suggested, such as within quoted words. */
export function placeAt(text: string, cursor: number): Place | undefined {
  const { tokens } = parseQuery(text);
  const token = tokens.find(({ from, to }) => from < cursor && cursor <= to);
  if (token === undefined) {
    return { wants: "field", typed: "", replaces: { from: cursor, to: cursor }, isPresence: false };
  }
  if (token.operator === undefined) return bareWord(text, token, cursor);
  const { field, operator } = token;
  if (field === undefined || cursor < operator.to) return wordPlace(text, { range: field, cursor, isPresence: false });
  if (field.word === "has") return wordPlace(text, { range: token.values[0], cursor, isPresence: true });
  const known = findField(field.word);
  return known === undefined ? undefined : valuePlace(text, token, { field: known, cursor });
}

function bareWord(text: string, token: Token, cursor: number): Place | undefined {
  const [word] = token.values;
  return word?.isQuoted === true ? undefined : wordPlace(text, { range: word, cursor, isPresence: false });
}

function wordPlace(
  text: string,
  { range, cursor, isPresence }: { range: Range | undefined; cursor: number; isPresence: boolean },
): Place | undefined {
  if (range === undefined || cursor < range.from || cursor > range.to) return undefined;
  const replaces = { from: range.from, to: range.to };
  return { wants: "field", typed: text.slice(range.from, cursor), replaces, isPresence };
}

function valuePlace(text: string, { values }: Token, { field, cursor }: { field: QueryField; cursor: number }): Place {
  const at = values.find(({ from, to }) => from <= cursor && cursor <= to);
  const replaces = at === undefined ? { from: cursor, to: cursor } : { from: at.from, to: at.to };
  const typed = text.slice(replaces.from, cursor).replace(/^"|"$/g, "");
  const others = values.filter((value) => value !== at).map((value) => value.text);
  return { wants: "value", typed, replaces, field, others };
}

const suggestionsMax = 12;

export function suggest(place: Place, known: KnownValues): Suggestion[] {
  const all = place.wants === "field" ? fieldSuggestions(place, known) : valueSuggestions(place, known);
  return all.slice(0, suggestionsMax);
}

type FieldPlace = Extract<Place, { wants: "field" }>;
type ValuePlace = Extract<Place, { wants: "value" }>;

function fieldSuggestions({ typed, isPresence }: FieldPlace, { metadataKeys = [] }: KnownValues): Suggestion[] {
  const needle = typed.toLowerCase();
  const keys = metadataKeys.flatMap(({ key, count }) => {
    const field = findField(`metadata.${key}`);
    return field === undefined ? [] : [{ field, count, key }];
  });
  const named = queryFields.map((field) => ({ field, rank: rankOf(field, needle) }));
  const fields = named.filter(({ rank }) => rank < noMatch).sort((a, b) => a.rank - b.rank);
  const ofMetadata = keys.filter(({ field, key }) => includesText(field.word, needle) || includesText(key, needle));
  const family = familyOf(typed)?.family;
  const suggestions = [
    ...fields.map(({ field }) => fieldSuggestion(field, isPresence)),
    ...ofMetadata.map(({ field, count }) => ({ ...fieldSuggestion(field, isPresence), count })),
  ];
  if (isPresence || family !== undefined || needle === "") return suggestions;
  return "has".startsWith(needle)
    ? [{ label: "has", detail: "Spans that have a field", insert: "has:" }, ...suggestions]
    : suggestions;
}

const noMatch = 3;

function rankOf({ word, name }: QueryField, needle: string): number {
  if (word.startsWith(needle)) return 0;
  if (name.startsWith(needle)) return 1;
  return needle.length > 1 && (word.includes(needle) || name.includes(needle)) ? 2 : noMatch;
}

function fieldSuggestion(field: QueryField, isPresence: boolean): Suggestion {
  const word = printWord(field);
  const operator = field.kind === "time" || (field.kind === "number" && field.hasFacet !== true) ? ">" : ":";
  return { label: field.word, detail: field.help, insert: isPresence ? `${word} ` : `${word}${operator}` };
}

function valueSuggestions({ field, typed, others }: ValuePlace, { values }: KnownValues): Suggestion[] {
  const needle = typed.toLowerCase();
  const counts = new Map((values ?? []).map(({ value, count }) => [showChoice(field, value), count]));
  const choices = [...new Set([...(field.choices ?? []), ...counts.keys()])];
  const left = choices.filter((value) => includesText(value, needle) && !others.includes(value));
  return left.map((value) => {
    const count = counts.get(value);
    return { label: value, detail: "", ...(count !== undefined && { count }), insert: `${printValue(value)} ` };
  });
}

/** The API's value is `failed`, the query's is `error`. */
function showChoice(field: QueryField, value: string): string {
  return field.name === "status" && value === "failed" ? "error" : value;
}

function includesText(text: string, needle: string): boolean {
  return text.toLowerCase().includes(needle);
}

/** The text with a suggestion applied, and the new cursor. An existing blank is not doubled. */
export function applySuggestion(text: string, { from, to }: Range, insert: string): { text: string; cursor: number } {
  const rest = text.slice(to);
  const added = insert.endsWith(" ") && /^[\s,]/.test(rest) ? insert.slice(0, -1) : insert;
  const follows = added !== insert && rest.startsWith(" ") ? 1 : 0;
  return { text: text.slice(0, from) + added + rest, cursor: from + added.length + follows };
}
