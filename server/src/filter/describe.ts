import type { Catalogue, Field, FieldKind } from "./catalogue.ts";
import { operatorsOf } from "./operators.ts";

/** One entry of `filters_data`: what a menu needs to offer a field. */
export type FieldDescription = {
  display_name: string;
  /** The name to filter by. */
  metric: string;
  operator_choices: Array<{ name: string; value: string }>;
  value_choices: Array<{ name: string; value: string }>;
  value_field_type: "text" | "selection" | "datetime-local" | "number";
  hidden: boolean;
};

const menuOperators = [
  { operator: "equal", negated: false, name: "equals", value: "" },
  { operator: "equal", negated: true, name: "does not equal", value: "not" },
  { operator: "iexact", negated: false, name: "equals, any case", value: "iexact" },
  { operator: "equal", negated: false, name: "is one of", value: "in" },
  { operator: "equal", negated: true, name: "is none of", value: "not_in" },
  { operator: "lt", negated: false, name: "is less than", value: "lt" },
  { operator: "lte", negated: false, name: "is at most", value: "lte" },
  { operator: "gt", negated: false, name: "is greater than", value: "gt" },
  { operator: "gte", negated: false, name: "is at least", value: "gte" },
  { operator: "contains", negated: false, name: "contains", value: "contains" },
  { operator: "icontains", negated: false, name: "contains, any case", value: "icontains" },
  { operator: "contains", negated: true, name: "does not contain", value: "not_contains" },
  { operator: "startswith", negated: false, name: "starts with", value: "startswith" },
  { operator: "endswith", negated: false, name: "ends with", value: "endswith" },
  { operator: "isnull", negated: false, name: "is absent", value: "isnull" },
] as const;

/** Kinds for which a menu offers `iexact`: typed values have only one spelling. */
const untyped: ReadonlySet<FieldKind> = new Set(["text", "uuid", "dynamic"]);

/**
 * Describes the fixed fields by name. `knownValues` adds values seen in the data, for fields with an open set of
 * values; the caller bounds them.
 */
export function describeFields<Row>(
  catalogue: Catalogue<Row>,
  knownValues: ReadonlyMap<string, readonly string[]> = new Map(),
): Record<string, FieldDescription> {
  return Object.fromEntries(
    catalogue.fields.map((field) => [field.name, describeField(field, knownValues.get(field.name) ?? field.choices)]),
  );
}

function describeField<Row>(field: Field<Row>, choices: readonly string[]): FieldDescription {
  const applicable = operatorsOf(field.kind);
  const offered = menuOperators.filter(
    ({ operator }) => applicable.includes(operator) && (operator !== "iexact" || untyped.has(field.kind)),
  );
  return {
    display_name: displayName(field.name),
    metric: field.name,
    operator_choices: offered.map(({ name, value }) => ({ name, value })),
    value_choices: choices.map((value) => ({ name: value, value })),
    value_field_type: valueFieldType(field, choices),
    hidden: field.hidden,
  };
}

function displayName(name: string): string {
  const words = name.replaceAll("_", " ").replace(/\bid\b/, "ID");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueFieldType<Row>(field: Field<Row>, choices: readonly string[]): FieldDescription["value_field_type"] {
  if (field.kind === "time") return "datetime-local";
  if (field.kind === "number") return "number";
  return choices.length > 0 ? "selection" : "text";
}
