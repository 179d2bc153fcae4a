import type { Condition, Filter, Operator } from "./ast.ts";
import type { Catalogue, Field, FieldKind, Source, TextForm } from "./catalogue.ts";
import {
  anchoredPattern,
  boundaryPattern,
  commonPiece,
  isWithinNestedJson,
  needlesOf,
  type JsonNeedle,
  type JsonNeedles,
} from "./json-needles.ts";
import { areCaseless, compareCodePoints, escapeRegExp, isExactNumber, numberOfText } from "./text.ts";

type Test<T> = (value: T) => boolean;

/**
 * The filter as a predicate over rows in memory, equivalent to `toClickHouse` over stored ones. Compile once, use
 * often. Its conditions must have been read with the same catalogue.
 */
export function compileMatcher<Row>(filter: Filter, catalogue: Catalogue<Row>): Test<Row> {
  if (filter.type === "condition") return conditionTest(filter, catalogue);
  if (filter.type === "not") {
    const test = compileMatcher(filter.filter, catalogue);
    return (row) => !test(row);
  }
  const tests = filter.filters.map((part) => compileMatcher(part, catalogue));
  return filter.type === "any" ? anyTest(tests) : (row) => tests.every((test) => test(row));
}

function anyTest<T>(tests: ReadonlyArray<Test<T>>): Test<T> {
  const [only] = tests;
  return tests.length === 1 && only !== undefined ? only : (value) => tests.some((test) => test(value));
}

function conditionTest<Row>(condition: Condition, catalogue: Catalogue<Row>): Test<Row> {
  const field = catalogue.find(condition.field);
  if (field === undefined) throw new Error(`no field ${condition.field} in this catalogue`);
  const { sources } = field;
  if (condition.operator === "isnull") {
    const wanted = condition.values[0] === true;
    return (row) => sources.every((source) => isAbsent(field, source, source.read(row))) === wanted;
  }
  return anyTest(sources.map((source) => sourceTests[field.kind](condition, source)));
}

function isAbsent<Row>(field: Field<Row>, source: Source<Row>, value: unknown): boolean {
  if (field.kind !== "text") return value === undefined || value === null;
  const text = storedText(value);
  return text === "" || (source.form === "json" && (text === "{}" || text === "[]"));
}

const sourceTests: Record<FieldKind, <Row>(condition: Condition, source: Source<Row>) => Test<Row>> = {
  number: (condition, source) => present(source, numberTest(condition), Number),
  boolean: (condition, source) => present(source, (value) => condition.values.includes(value), Boolean),
  time: (condition, source) => present(source, timeTest(condition), String),
  uuid: (condition, source) => present(source, uuidTest(condition, source.form), String),
  dynamic: (condition, source) => present(source, dynamicTest(condition, source.form), String),
  text(condition, source) {
    const test = textTest(condition, source.form);
    return (row) => test(storedText(source.read(row)));
  },
};

function present<Row, T>(source: Source<Row>, test: Test<T>, convert: (value: unknown) => T): Test<Row> {
  return (row) => {
    const value = source.read(row);
    return value !== undefined && value !== null && test(convert(value));
  };
}

/** Text as its column stores it: JSON values as JSON text. */
function storedText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Whether an order (negative: the row's value comes first) satisfies an ordering operator; undefined for others. */
function orderTest(operator: Operator): Test<number> | undefined {
  if (operator === "lt") return (order) => order < 0;
  if (operator === "lte") return (order) => order <= 0;
  if (operator === "gt") return (order) => order > 0;
  return operator === "gte" ? (order) => order >= 0 : undefined;
}

function numberTest({ operator, values }: Condition): Test<number> {
  const ordered = orderTest(operator);
  const limit = Number(values[0]);
  return ordered === undefined ? (value) => values.includes(value) : (value) => ordered(value - limit);
}

function timeTest({ operator, values }: Condition): Test<string> {
  const ordered = orderTest(operator);
  const limit = String(values[0]);
  return ordered === undefined
    ? (value) => values.includes(value)
    : (value) => ordered(compareCodePoints(value, limit));
}

function uuidTest(condition: Condition, form: TextForm): Test<string> {
  if (condition.operator !== "equal") return textTest(condition, form);
  const ids = new Set(texts(condition).map((id) => id.toLowerCase()));
  return (value) => ids.has(value.toLowerCase());
}

function textTest(condition: Condition, form: TextForm): Test<string> {
  const { operator } = condition;
  const needles = texts(condition);
  const ordered = orderTest(operator);
  if (ordered !== undefined) {
    const limit = String(needles[0]);
    return (value) => value !== "" && ordered(compareCodePoints(value, limit));
  }
  if (operator === "equal") return equalTest(needles);
  const search = operator === "icontains" && areCaseless(needles) ? "contains" : operator;
  return searchTest(search, needles, form);
}

function equalTest(needles: readonly string[]): Test<string> {
  const [only] = needles;
  if (needles.length === 1) return (value) => value === only;
  const wanted = new Set(needles);
  return (value) => wanted.has(value);
}

function searchTest(operator: Operator, needles: readonly string[], form: TextForm): Test<string> {
  if (operator === "startswith") return anyTest(needles.map((needle) => (value) => value.startsWith(needle)));
  if (operator === "endswith") return anyTest(needles.map((needle) => (value) => value.endsWith(needle)));
  if (operator === "iexact") return anyTest(needles.map((text) => patternTest(`^${escapeRegExp(text)}$`, "ius")));
  const isFolded = operator === "icontains";
  const search: Search = isFolded
    ? (text) => patternTest(escapeRegExp(text), "ius")
    : (text) => (value) => value.includes(text);
  if (form === "plain") return anyTest(needles.map(search));
  const flags = isFolded ? "ius" : "us";
  return anyTest(
    needlesOf(needles, form, isFolded).map(([needle, forms]) => {
      const tests = jsonTests(forms, search, flags);
      if (form === "either" && !forms.own.some(({ text }) => text === needle)) tests.unshift(search(needle));
      const piece = tests.length === 1 ? undefined : commonPiece(needle);
      if (piece === undefined) return anyTest(tests);
      const [mayContain, holds] = [search(piece), anyTest(tests)];
      return (value) => mayContain(value) && holds(value);
    }),
  );
}

type Search = (text: string) => Test<string>;

/** Searches JSON text for the encoded forms of a needle. */
function jsonTests({ own, nested }: JsonNeedles, search: Search, flags: string): Test<string>[] {
  const tests = own.map((one) => {
    const anchored = anchoredPattern(one, escapeRegExp);
    return anchored === undefined ? search(one.text) : patternTest(anchored, flags);
  });
  return [...tests, ...nested.map((one) => nestedTest(one, search, flags))];
}

function nestedTest({ text, level }: JsonNeedle, search: Search, flags: string): Test<string> {
  const mayBeNested = search(text);
  const isNested = patternTest(boundaryPattern({ text, level }, escapeRegExp), flags);
  return (value) => mayBeNested(value) && isWithinNestedJson(value, level, isNested);
}

function patternTest(pattern: string, flags: string): Test<string> {
  const regExp = new RegExp(pattern, flags);
  return (value) => regExp.test(value);
}

/** Numbers compare with numbers and text with text: `10` is not before `abc`, nor after it. */
function dynamicTest(condition: Condition, form: TextForm): Test<string> {
  const { operator } = condition;
  const needles = texts(condition);
  if (operator === "equal") return dynamicEqualTest(needles);
  const ordered = orderTest(operator);
  if (ordered === undefined) return textTest(condition, form);
  const limitText = String(needles[0]);
  const limit = numberOfText(limitText);
  if (limit === undefined) {
    return (value) => numberOfText(value) === undefined && ordered(compareCodePoints(value, limitText));
  }
  return (value) => {
    const number = numberOfText(value);
    return number !== undefined && ordered(number - limit);
  };
}

function dynamicEqualTest(needles: readonly string[]): Test<string> {
  const numbers = new Set<number>();
  const plain = new Set<string>();
  for (const needle of needles) {
    const number = isExactNumber(needle) ? numberOfText(needle) : undefined;
    if (number === undefined) plain.add(needle);
    else numbers.add(number);
  }
  return (value) => {
    if (plain.has(value)) return true;
    const number = numbers.size === 0 ? undefined : numberOfText(value);
    return number !== undefined && numbers.has(number);
  };
}

function texts(condition: Condition): string[] {
  return condition.values.map(String);
}
