/** The common form of every filter: request bodies, URL parameters and condition policies all become this tree. */

/**
 * The operators of conditions. Their opposites (`not`, `not_in`, `not_contains` …) are a `not` around the condition.
 */
export const operators = [
  "equal",
  "iexact",
  "lt",
  "lte",
  "gt",
  "gte",
  "contains",
  "icontains",
  "startswith",
  "endswith",
  "isnull",
] as const;
export type Operator = (typeof operators)[number];

export type FilterValue = string | number | boolean;

export type Condition = {
  type: "condition";
  /** The catalogue's own name of the field, never an alias. */
  field: string;
  operator: Operator;
  /**
   * At least one, already of the field's type; several mean any of them.
   * Exactly one for `lt`, `lte`, `gt`, `gte` and for `isnull`, which takes a boolean.
   * Times are text as stored: `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`, UTC.
   */
  values: readonly FilterValue[];
};

/**
 * Two-valued: a condition on an absent value is false (except `isnull`), its negation is true. `all` of nothing holds
 * for every row, `any` of nothing for none.
 */
export type Filter =
  | Condition
  | { type: "all"; filters: readonly Filter[] }
  | { type: "any"; filters: readonly Filter[] }
  | { type: "not"; filter: Filter };

export const everything: Filter = { type: "all", filters: [] };

/** All conditions of a filter, at any depth. */
export function conditionsOf(filter: Filter): Condition[] {
  if (filter.type === "condition") return [filter];
  return filter.type === "not" ? conditionsOf(filter.filter) : filter.filters.flatMap(conditionsOf);
}

/** Joins filters, without an unnecessary level for a single filter or for parts with the same connector. */
export function joinFilters(type: "all" | "any", filters: readonly Filter[]): Filter {
  const flat = filters.flatMap((filter) => (filter.type === type ? filter.filters : [filter]));
  const [only] = flat;
  return flat.length === 1 && only !== undefined ? only : { type, filters: flat };
}
