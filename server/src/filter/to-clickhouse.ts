import type { Condition, Filter, Operator } from "./ast.ts";
import type { BoundType, Catalogue, Field, FieldKind, Source, SqlScope, TextForm, ValueTest } from "./catalogue.ts";
import { both, textSearchSql } from "./text-search-sql.ts";
import { isExactNumber, numberOfText, numberPattern } from "./text.ts";

export type SqlFilter = {
  /** A boolean expression, never NULL, for use in a WHERE clause beside others joined by AND. */
  sql: string;
  /** `query_params` of the statement. */
  params: Record<string, string | readonly string[]>;
  /** The columns that the filter reads. */
  columns: ReadonlySet<string>;
  /** The metadata keys that it reads in `metadata_index`; undefined if it may read any. */
  metadataKeys: ReadonlySet<string> | undefined;
  /** The operands that it joins by AND. */
  operands: readonly SqlOperand[];
};

/** `isDemand`: it matches only rows that have a value, and still matches if columns without a value get one. */
export type SqlOperand = { sql: string; columns: ReadonlySet<string>; isDemand: boolean };

export type SqlOptions = {
  /** Name or alias that qualifies the columns. */
  table?: string;
  /** Prefix of parameter names; two filters in one statement need different ones. */
  prefix?: string;
};

/** The filter as ClickHouse SQL. Its conditions must have been read with the same catalogue. */
export function toClickHouse<Row>(filter: Filter, catalogue: Catalogue<Row>, options: SqlOptions = {}): SqlFilter {
  const { table, prefix = "f" } = options;
  const params: SqlFilter["params"] = {};
  let columns = new Set<string>();
  const keys = new Set<string>();
  let readsAnyKey = false;
  const names = new Map<string, string>();
  const scope: SqlScope = {
    column(name, key) {
      columns.add(name);
      if (name.startsWith("metadata") && key === undefined) readsAnyKey = true;
      if (key !== undefined) keys.add(key);
      return table === undefined ? name : `${table}.${name}`;
    },
    bind(type, value) {
      const identity = JSON.stringify([type, value]);
      const name = names.get(identity) ?? `${prefix}${names.size}`;
      names.set(identity, name);
      // A list of strings would reach ClickHouse quoted, which it does not accept as numbers.
      params[name] = type === "Array(Float64)" && typeof value !== "string" ? `[${value.join(",")}]` : value;
      return `{${name}:${sqlTypes[type]}}`;
    },
  };
  const operands = (filter.type === "all" ? filter.filters : [filter]).map((operand) => {
    columns = new Set();
    return { sql: filterSql(operand, catalogue, scope), columns, isDemand: demandsValue(operand) };
  });
  return {
    sql: both(
      "AND",
      operands.map(({ sql }) => sql),
    ),
    params,
    columns: new Set(operands.flatMap((operand) => [...operand.columns])),
    metadataKeys: readsAnyKey ? undefined : keys,
    operands,
  };
}

function demandsValue(filter: Filter): boolean {
  if (filter.type === "not") return false;
  if (filter.type === "condition") return filter.operator !== "isnull" && filter.values.every((value) => value !== "");
  return filter.type === "any" && filter.filters.length > 0 && filter.filters.every(demandsValue);
}

const sqlTypes: Record<BoundType, string> = {
  String: "String",
  "Array(String)": "Array(String)",
  UUID: "UUID",
  "Array(UUID)": "Array(UUID)",
  Float64: "Float64",
  "Array(Float64)": "Array(Float64)",
  Time: "DateTime64(9, 'UTC')",
};

function filterSql<Row>(filter: Filter, catalogue: Catalogue<Row>, scope: SqlScope): string {
  if (filter.type === "condition") return conditionSql(filter, catalogue, scope);
  if (filter.type === "not") return `NOT ${filterSql(filter.filter, catalogue, scope)}`;
  const parts = filter.filters.map((part) => filterSql(part, catalogue, scope));
  return both(filter.type === "all" ? "AND" : "OR", parts);
}

function conditionSql<Row>(condition: Condition, catalogue: Catalogue<Row>, scope: SqlScope): string {
  const field = catalogue.find(condition.field);
  if (field === undefined) throw new Error(`no field ${condition.field} in this catalogue`);
  const mayBeNull = field.nullable && ["number", "boolean", "time"].includes(field.kind);
  if (condition.operator === "isnull") {
    const absent = both(
      "AND",
      field.sources.map((source) => absentSql(field, source, scope)),
    );
    return condition.values[0] === true ? `(${absent})` : `NOT (${absent})`;
  }
  return both(
    "OR",
    field.sources.map((source) => {
      const on = (value: string) => sourceSql[field.kind](condition, { ...source, sql: () => value }, scope);
      const isSearch = condition.operator === "contains" || condition.operator === "icontains";
      const sql = source.withinSql?.(scope, { on, isSearch }) ?? sourceSql[field.kind](condition, source, scope);
      return mayBeNull ? `ifNull(${sql}, 0)` : `(${sql})`;
    }),
  );
}

function absentSql<Row>(field: Field<Row>, source: Source<Row>, scope: SqlScope): string {
  if (field.kind === "dynamic")
    return `NOT ${source.withinSql?.(scope, anything) ?? source.presentSql?.(scope) ?? "1"}`;
  if (!field.nullable) return "0";
  const value = source.sql(scope);
  if (field.kind !== "text") return `isNull(${value})`;
  return source.form === "json" ? `${value} IN ('', '{}', '[]', 'null')` : `${value} = ''`;
}

const anything: ValueTest = { on: () => "1", isSearch: false };

type SourceSql = <Row>(condition: Condition, source: Source<Row>, scope: SqlScope) => string;

const sourceSql: Record<FieldKind, SourceSql> = {
  number: (condition, source, scope) => numberSql(condition, source.sql(scope), scope),
  boolean: (condition, source, scope) => booleanSql(condition, source.sql(scope)),
  time: (condition, source, scope) => timeSql(condition, source.sql(scope), scope),
  uuid: uuidSql,
  text: (condition, source, scope) => textSql(condition, source.form, source.sql(scope), scope),
  dynamic: dynamicSql,
};

const comparisons = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;
type Ordering = keyof typeof comparisons;

function isOrdering(operator: Operator): operator is Ordering {
  return Object.hasOwn(comparisons, operator);
}

function numberSql({ operator, values }: Condition, value: string, scope: SqlScope): string {
  const numbers = values.map(String);
  if (isOrdering(operator)) return `${value} ${comparisons[operator]} ${scope.bind("Float64", first(numbers))}`;
  return anyNumberSql(value, numbers, scope);
}

function anyNumberSql(value: string, numbers: readonly string[], scope: SqlScope): string {
  if (numbers.length === 1) return `${value} = ${scope.bind("Float64", first(numbers))}`;
  // A set distinguishes -0 from 0; adding zero turns -0 into 0.
  return `${value} + 0. IN ${scope.bind("Array(Float64)", numbers)}`;
}

function booleanSql({ values }: Condition, value: string): string {
  return both(
    "OR",
    [...new Set(values)].map((wanted) => `(${value}) = ${wanted === true ? "true" : "false"}`),
  );
}

function timeSql({ operator, values }: Condition, value: string, scope: SqlScope): string {
  const comparison = isOrdering(operator) ? comparisons[operator] : "=";
  return both(
    "OR",
    values.map((time) => `${value} ${comparison} ${scope.bind("Time", String(time))}`),
  );
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function uuidSql<Row>(condition: Condition, source: Source<Row>, scope: SqlScope): string {
  const value = source.sql(scope);
  if (condition.operator !== "equal") return textSql(condition, source.form, `toString(${value})`, scope);
  const ids = texts(condition).filter((id) => uuidPattern.test(id));
  if (ids.length === 0) return "0";
  return ids.length === 1
    ? `${value} = ${scope.bind("UUID", first(ids))}`
    : `${value} IN ${scope.bind("Array(UUID)", ids)}`;
}

function textSql(condition: Condition, form: TextForm, value: string, scope: SqlScope): string {
  const { operator } = condition;
  const needles = texts(condition);
  if (operator === "equal") return anyTextSql(value, needles, scope);
  if (isOrdering(operator)) {
    return `${value} != '' AND ${value} ${comparisons[operator]} ${scope.bind("String", first(needles))}`;
  }
  return textSearchSql(operator, value, { needles, form, scope });
}

function anyTextSql(value: string, needles: readonly string[], scope: SqlScope): string {
  return needles.length === 1
    ? `${value} = ${scope.bind("String", first(needles))}`
    : `${value} IN ${scope.bind("Array(String)", needles)}`;
}

function dynamicSql<Row>(condition: Condition, source: Source<Row>, scope: SqlScope): string {
  const { operator } = condition;
  const value = source.sql(scope);
  const needles = texts(condition);
  const present = source.presentSql?.(scope) ?? "1";
  if (operator === "equal") return dynamicEqualSql(needles, source, scope);
  if (isOrdering(operator)) {
    const needle = first(needles);
    const number = numberOfText(needle);
    return number === undefined
      ? `${present} AND NOT ${isNumberSql(value)} AND ${value} ${comparisons[operator]} ${scope.bind("String", needle)}`
      : `${present} AND ${isNumberSql(value)} AND toFloat64OrZero(${value}) ${comparisons[operator]} ${scope.bind("Float64", String(number))}`;
  }
  const found = textSql(condition, source.form, value, scope);
  // The value of an absent key reads as '', which only an empty needle matches.
  return needles.includes("") ? `${present} AND (${found})` : found;
}

function dynamicEqualSql<Row>(needles: readonly string[], source: Source<Row>, scope: SqlScope): string {
  const value = source.sql(scope);
  const present = source.presentSql?.(scope) ?? "1";
  const isNumber = (needle: string) => isExactNumber(needle) && numberOfText(needle) !== undefined;
  const numbers = needles.filter(isNumber).map((needle) => String(Number(needle)));
  const plain = needles.filter((needle) => !isNumber(needle));
  const parts: string[] = [];
  if (numbers.length > 0) {
    const equal = anyNumberSql(`toFloat64OrZero(${value})`, numbers, scope);
    parts.push(`(${present} AND ${isNumberSql(value)} AND ${equal})`);
  }
  if (plain.length > 0) {
    const conditions = [anyTextSql(value, plain, scope)];
    if (plain.includes("")) conditions.push(present);
    else if (source.candidatesSql !== undefined) {
      conditions.push(`hasAny(${source.candidatesSql(scope)}, ${scope.bind("Array(String)", plain)})`);
    }
    parts.push(both("AND", conditions));
  }
  return both("OR", parts);
}

/** Whether a text is a number by the rules of filters. */
export function isNumberSql(value: string): string {
  return `(match(${value}, '${numberPattern.replaceAll("\\", "\\\\")}') AND isFinite(toFloat64OrZero(${value})))`;
}

function texts(condition: Condition): string[] {
  return condition.values.map(String);
}

function first(values: readonly string[]): string {
  const [value] = values;
  if (value === undefined) throw new Error("a condition has at least one value");
  return value;
}
