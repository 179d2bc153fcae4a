import { canonicalValue, findField, type QueryField } from "./fields.ts";
import { parseQuery, type Token } from "./parse-query.ts";
import { printTerm, printValue } from "./print-query.ts";
import type { FieldTerm } from "./query.ts";

/** Edits of the query text by facets. They leave other parts unchanged, including incomplete ones. */

/** Adds a value to those that a field may have (or, with `negated`, must not have), or removes it. */
export function toggleValue(
  text: string,
  { field: name, value, negated = false }: { field: string; value: string; negated?: boolean },
): string {
  const field = findField(name);
  if (field === undefined) return text;
  const isChosen = valueState(text, name, value) === (negated ? "excluded" : "included");
  const without = removeValue(text, field, value);
  return isChosen ? without : addValue(without, field, { value, negated });
}

/** Whether a query includes a value, excludes it, or does not mention it. */
export function valueState(text: string, name: string, value: string): "included" | "excluded" | "free" {
  const field = findField(name);
  if (field === undefined) return "free";
  const token = tokensOf(text, field).find(({ term }) => term.values.some((typed) => isSame(field, typed, value)));
  return token === undefined ? "free" : token.term.negated ? "excluded" : "included";
}

/** The text without any condition on a field: its facet is counted with this query. */
export function withoutField(text: string, name: string): string {
  const tokens = parseQuery(text).tokens.filter(
    ({ term }) => term !== undefined && term.type !== "text" && term.field === name,
  );
  return tokens.reduceRight((rest, token) => removeToken(rest, token), text);
}

/** Appends a term to the text, unless it is already there. */
export function addTerm(text: string, term: FieldTerm): string {
  const printed = printTerm(term);
  const isThere = parseQuery(text).query.some((each) => printTerm(each) === printed);
  return isThere ? text : append(text, printed);
}

function removeValue(text: string, field: QueryField, value: string): string {
  return tokensOf(text, field).reduceRight((rest, token) => {
    const values = token.term.values.filter((typed) => !isSame(field, typed, value));
    if (values.length === token.term.values.length) return rest;
    if (values.length === 0) return removeToken(rest, token);
    return replace(rest, token, printTerm({ ...token.term, values }));
  }, text);
}

function addValue(text: string, field: QueryField, { value, negated }: { value: string; negated: boolean }): string {
  const shown = field.name === "status" && value === "failed" ? "error" : value;
  const token = tokensOf(text, field).find(({ term }) => term.negated === negated);
  if (token === undefined) {
    const term: FieldTerm = { type: "field", field: field.name, operator: "is", values: [shown], negated };
    return append(text, printTerm(term));
  }
  return `${text.slice(0, token.to)},${printValue(shown)}${text.slice(token.to)}`;
}

/** The terms that list values of a field. */
function tokensOf(text: string, field: QueryField): Array<Token & { term: FieldTerm }> {
  return parseQuery(text).tokens.flatMap((token) => {
    const { term } = token;
    return term?.type === "field" && term.field === field.name && term.operator === "is" ? [{ ...token, term }] : [];
  });
}

function isSame(field: QueryField, typed: string, value: string): boolean {
  return canonicalValue(field, typed) === canonicalValue(field, value);
}

function append(text: string, printed: string): string {
  const start = text.trimEnd();
  return start === "" ? printed : `${start} ${printed}`;
}

function replace(text: string, { from, to }: Token, printed: string): string {
  return text.slice(0, from) + printed + text.slice(to);
}

function removeToken(text: string, { from, to }: Token): string {
  return `${text.slice(0, from).trimEnd()} ${text.slice(to).trimStart()}`.trim();
}
