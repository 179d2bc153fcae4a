import type { FieldKind } from "./fields.ts";

/** A parsed query: all of its terms must hold. */
export type Query = readonly Term[];

export type TextTerm = { type: "text"; text: string; negated: boolean };
export type PresenceTerm = { type: "has"; field: string; negated: boolean };
export type FieldTerm = {
  type: "field";
  /** The API's name. */
  field: string;
  operator: Operator;
  /** As typed, at least one. Several values mean any of them; with `negated`, none of them. */
  values: readonly string[];
  negated: boolean;
};
export type Term = TextTerm | PresenceTerm | FieldTerm;

export type Operator =
  | "is"
  | "iexact"
  | "contains"
  | "icontains"
  | "startswith"
  | "endswith"
  | "lt"
  | "lte"
  | "gt"
  | "gte";

/** Longer spellings first, since the parser takes the first that matches. `:` depends on the field. */
export const operatorSpellings: ReadonlyArray<readonly [text: string, operator: Operator, negated: boolean]> = [
  ["!=", "is", true],
  ["!~", "icontains", true],
  [">=", "gte", false],
  ["<=", "lte", false],
  ["~=", "iexact", false],
  ["^=", "startswith", false],
  ["$=", "endswith", false],
  ["*=", "contains", false],
  [">", "gt", false],
  ["<", "lt", false],
  ["~", "icontains", false],
  ["=", "is", false],
];

const ordered: readonly Operator[] = ["is", "lt", "lte", "gt", "gte"];
const textual: readonly Operator[] = [...ordered, "iexact", "contains", "icontains", "startswith", "endswith"];
const byKind: Record<FieldKind, readonly Operator[]> = {
  text: textual,
  dynamic: textual,
  number: ordered,
  time: ordered,
  boolean: ["is"],
};

export function operatorsOf(kind: FieldKind): readonly Operator[] {
  return byKind[kind];
}

export function isComparison(operator: Operator): boolean {
  return ["lt", "lte", "gt", "gte"].includes(operator);
}

/** The server's bounds of filters. */
export const queryBounds = { terms: 100, values: 2000, valueChars: 8192, chars: 131_072, newMessages: 5 } as const;
