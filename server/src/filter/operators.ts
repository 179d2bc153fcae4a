import type { FieldKind } from "./catalogue.ts";
import type { Operator } from "./ast.ts";

export type OperatorMeaning = {
  operator: Operator;
  negated: boolean;
  /** Values are not read: the name implies them (`empty`). */
  implied?: boolean;
  /** A single text from a URL may hold several values, separated by commas. */
  list?: boolean;
};

/**
 * Every accepted spelling, compared without case. The first of each line is that of the interface, or the closest to
 * it.
 */
const spellings: ReadonlyArray<readonly [names: string, meaning: OperatorMeaning]> = [
  [" = == === eq equal equals is exact", { operator: "equal", negated: false }],
  ["in", { operator: "equal", negated: false, list: true }],
  ["not != <> ne neq not_equal not_equals is_not", { operator: "equal", negated: true }],
  ["not_in nin notin", { operator: "equal", negated: true, list: true }],
  ["iexact iequals", { operator: "iexact", negated: false }],
  ["not_iexact", { operator: "iexact", negated: true }],
  ["lt < less_than", { operator: "lt", negated: false }],
  ["lte <= le less_than_or_equal less_than_or_equals", { operator: "lte", negated: false }],
  ["gt > greater_than", { operator: "gt", negated: false }],
  ["gte >= ge greater_than_or_equal greater_than_or_equals", { operator: "gte", negated: false }],
  ["contains", { operator: "contains", negated: false }],
  ["not_contains", { operator: "contains", negated: true }],
  ["icontains ilike", { operator: "icontains", negated: false }],
  ["not_icontains not_ilike", { operator: "icontains", negated: true }],
  ["startswith starts_with", { operator: "startswith", negated: false }],
  ["not_startswith not_starts_with", { operator: "startswith", negated: true }],
  ["endswith ends_with", { operator: "endswith", negated: false }],
  ["not_endswith not_ends_with", { operator: "endswith", negated: true }],
  ["isnull is_null", { operator: "isnull", negated: false }],
  ["empty is_empty", { operator: "isnull", negated: false, implied: true }],
  ["not_empty notempty is_not_empty not_null is_not_null", { operator: "isnull", negated: true, implied: true }],
];

const meanings = new Map(
  spellings.flatMap(([names, meaning]) => names.split(" ").map((name) => [name, meaning] as const)),
);

/** The meaning of an operator as sent; undefined if unknown. `not in` and `not-in` are read as `not_in`. */
export function readOperator(name: string): OperatorMeaning | undefined {
  return meanings.get(name.trim().toLowerCase().replace(/[ -]/g, "_"));
}

const ordered: readonly Operator[] = ["equal", "iexact", "lt", "lte", "gt", "gte", "isnull"];
const textual: readonly Operator[] = [...ordered, "contains", "icontains", "startswith", "endswith"];
const byKind: Record<FieldKind, readonly Operator[]> = {
  text: textual,
  uuid: textual,
  dynamic: textual,
  number: ordered,
  time: ordered,
  boolean: ["equal", "iexact", "isnull"],
};

export function operatorsOf(kind: FieldKind): readonly Operator[] {
  return byKind[kind];
}
