import { findField } from "./fields.ts";
import type { FieldTerm, Operator, Query, Term } from "./query.ts";
import { readValue, type ApiValue } from "./values.ts";

export type FilterCondition = { operator: string; value: ApiValue[] };
/** The API's `filters`: all conditions of all fields must hold. */
export type Filters = Record<string, FilterCondition[]>;

/**
 * Converts a query to the API's `filters`. Values of a parsed query have the types of their fields; others stay as
 * typed.
 */
export function toFilters(query: Query): Filters {
  const filters = new Map<string, FilterCondition[]>();
  for (const term of query) {
    const name = term.type === "text" ? "any_text" : term.field;
    filters.set(name, [...(filters.get(name) ?? []), condition(term)]);
  }
  return Object.fromEntries(filters);
}

function condition(term: Term): FilterCondition {
  if (term.type === "text") {
    return { operator: term.negated ? "not_icontains" : "icontains", value: [term.text.toWellFormed()] };
  }
  if (term.type === "has") return { operator: "isnull", value: [term.negated] };
  return { operator: operatorName(term), value: term.values.map((text) => apiValue(term.field, text)) };
}

function operatorName({ operator, negated, values }: FieldTerm): string {
  if (operator === "is") {
    if (values.length > 1) return negated ? "not_in" : "in";
    return negated ? "not" : "";
  }
  return negated ? `not_${operator satisfies Operator}` : operator;
}

function apiValue(name: string, text: string): ApiValue {
  const field = findField(name);
  const read = field === undefined ? { value: text } : readValue(field, text);
  return "value" in read ? read.value : text;
}
