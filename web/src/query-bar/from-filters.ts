import { findField, type QueryField } from "./fields.ts";
import { operatorsOf, type Operator, type Query, type Term } from "./query.ts";
import { readValue, showValue, type ApiValue } from "./values.ts";

const operators: Readonly<Record<string, readonly [operator: Operator, negated: boolean]>> = {
  "": ["is", false],
  in: ["is", false],
  not: ["is", true],
  not_in: ["is", true],
  iexact: ["iexact", false],
  not_iexact: ["iexact", true],
  contains: ["contains", false],
  not_contains: ["contains", true],
  icontains: ["icontains", false],
  not_icontains: ["icontains", true],
  startswith: ["startswith", false],
  not_startswith: ["startswith", true],
  endswith: ["endswith", false],
  not_endswith: ["endswith", true],
  lt: ["lt", false],
  lte: ["lte", false],
  gt: ["gt", false],
  gte: ["gte", false],
};

/** Other operator spellings that the API accepts, such as those of conditions. */
const spellings: Readonly<Record<string, string>> = {
  equal: "",
  equals: "",
  eq: "",
  not_equal: "not",
  not_equals: "not",
  neq: "not",
  less_than: "lt",
  less_than_or_equal: "lte",
  greater_than: "gt",
  greater_than_or_equal: "gte",
};

/**
 * Converts the API's `filters` to a query; undefined if the query language cannot express them, such as OR between
 * fields.
 */
export function fromFilters(filters: unknown): Query | undefined {
  if (!isObject(filters)) return undefined;
  const terms: Term[] = [];
  for (const [name, value] of Object.entries(filters)) {
    const field = findField(name);
    // A list of values is one condition, a list of conditions is several.
    const parts = Array.isArray(value) && value.some(isObject) ? (value as unknown[]) : [value];
    const read = parts.map((part) => (field === undefined ? undefined : readCondition(field, part)));
    if (read.includes(undefined)) return undefined;
    terms.push(...read.filter((term) => term !== undefined));
  }
  return terms;
}

function readCondition(field: QueryField, input: unknown): Term | undefined {
  const parts = isObject(input) ? input : { value: input };
  const { operator: sent = "", value, connector, ...others } = parts;
  if (Object.keys(others).length > 0 || typeof sent !== "string") return undefined;
  const operator = Object.hasOwn(spellings, sent) ? (spellings[sent] ?? "") : sent;
  if (connector !== undefined && connector !== null && connector !== "" && connector !== "AND") return undefined;
  const values = (Array.isArray(value) ? (value as unknown[]) : [value]).filter(isScalar);
  const given = Array.isArray(value) ? value.length : 1;
  if (operator === "empty" || operator === "not_empty") {
    return { type: "has", field: field.name, negated: operator === "empty" };
  }
  const [first] = values;
  if (values.length !== given || first === undefined) return undefined;
  if (operator === "isnull") {
    return values.length === 1 && typeof first === "boolean"
      ? { type: "has", field: field.name, negated: first }
      : undefined;
  }
  return fieldTerm(field, operator, values);
}

function fieldTerm(field: QueryField, name: string, values: readonly ApiValue[]): Term | undefined {
  if (!Object.hasOwn(operators, name)) return undefined;
  const [operator, negated] = operators[name] ?? ["is", false];
  const shown = values.map((value) => showValue(field, value));
  const isRead = shown.every((text) => "value" in readValue(field, text));
  if (!isRead || !operatorsOf(field.kind).includes(operator)) return undefined;
  const [text = ""] = shown;
  if (field.name === "any_text" && operator === "icontains" && shown.length === 1 && text !== "") {
    return { type: "text", text, negated };
  }
  return { type: "field", field: field.name, operator, values: shown, negated };
}

function isScalar(value: unknown): value is ApiValue {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
