import { familyOf, findField, type QueryField } from "./fields.ts";
import { operatorSpellings, type Query, type Term } from "./query.ts";

/** Prints a query as text that parses to the same query. */
export function printQuery(query: Query): string {
  return query.map(printTerm).join(" ");
}

export function printTerm(term: Term): string {
  const sign = term.negated ? "-" : "";
  if (term.type === "text") return sign + printWords(term.text);
  const field = findField(term.field);
  const word = field === undefined ? term.field : printWord(field);
  if (term.type === "has") return `${sign}has:${word}`;
  const operator = operatorText(term.operator, field?.isSearched === true);
  return `${sign}${word}${operator}${term.values.map(printValue).join(",")}`;
}

function operatorText(operator: string, isSearched: boolean): string {
  if (operator === (isSearched ? "icontains" : "is")) return ":";
  return operatorSpellings.find(([, name, negated]) => name === operator && !negated)?.[0] ?? ":";
}

/** The name of a field, with its key quoted if necessary. */
export function printWord({ word }: QueryField): string {
  const { family, key = "" } = familyOf(word) ?? {};
  if (family === undefined || /^[\p{L}\p{N}_./@-]+$/u.test(key)) return word;
  return `${word.slice(0, word.length - key.length)}${quote(key)}`;
}

/** Quoted if it would be parsed as something else, such as an operator before its value. */
export function printValue(value: string): string {
  return /^(?![<>=!~^$])[^\s,"*\p{C}\p{Z}]+$/u.test(value) ? value : quote(value);
}

function printWords(text: string): string {
  const isWord = /^[\p{L}\p{N}_][\p{L}\p{N}_.@'/-]*$/u.test(text) && !/^(?:OR|AND|NOT)$/.test(text);
  return isWord ? text : quote(text);
}

/** As JSON, with invisible characters escaped: they would be lost in a text field or a URL. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}
