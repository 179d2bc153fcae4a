import { familyOf, findField, type QueryField } from "./fields.ts";
import {
  isComparison,
  operatorSpellings,
  operatorsOf,
  queryBounds,
  type Operator,
  type Query,
  type Term,
} from "./query.ts";
import { Scanner, type Range, type ScannedValue } from "./scanner.ts";
import { readValue } from "./values.ts";

/** One word of the text between blanks, with the ranges of its parts. */
export type Token = Range & {
  term?: Term;
  /** Why it is not a valid term; names the token. */
  problem?: string;
  /** The only problem is that it ends too early. */
  isUnfinished?: true;
  field?: Range & { word: string };
  operator?: Range;
  values: ReadonlyArray<ScannedValue>;
};

export type ParsedQuery = {
  tokens: readonly Token[];
  query: Query;
  problems: ReadonlyArray<Range & { message: string }>;
};

/** Parses a query. Never throws: an invalid token carries its problem, and the others are still parsed. */
export function parseQuery(text: string): ParsedQuery {
  const scanner = new Scanner(text);
  const tokens: Token[] = [];
  while (scanner.skipBlanks()) tokens.push(readToken(scanner));
  const query = tokens.flatMap(({ term }) => (term === undefined ? [] : [term]));
  const problems = tokens.flatMap(({ from, to, problem }) =>
    problem === undefined ? [] : [{ from, to, message: problem }],
  );
  const excess = excessOf(query);
  if (excess !== undefined) problems.push({ from: 0, to: text.length, message: excess });
  return { tokens, query, problems };
}

function readToken(scanner: Scanner): Token {
  const from = scanner.at;
  const isNegative = scanner.take("-");
  const token = scanner.peek() === '"' ? readText(scanner, isNegative) : readWord(scanner, isNegative);
  const to = scanner.at;
  if (token.problem === undefined) return { ...token, from, to };
  return { ...token, from, to, problem: `${shorten(scanner.text.slice(from, to))}: ${token.problem}` };
}

type Unplaced = Omit<Token, "from" | "to">;

function readText(scanner: Scanner, negated: boolean): Unplaced {
  const quoted = scanner.quoted();
  const values = [quoted];
  if (quoted.isOpen === true) return { values, problem: "the quotation mark is not closed", isUnfinished: true };
  if (quoted.text === "") return { values, problem: "there are no words between the quotation marks" };
  const rest = scanner.untilBlank();
  if (rest !== "") return { values, problem: "put a space after the quotation mark" };
  return { values, term: { type: "text", text: quoted.text, negated } };
}

const connectors: ReadonlySet<string> = new Set(["OR", "AND", "NOT"]);

function readWord(scanner: Scanner, negated: boolean): Unplaced {
  const from = scanner.at;
  const word = scanner.fieldWord();
  const field = { from, to: scanner.at, word };
  const operator = readOperator(scanner);
  if (operator === undefined || word === "") {
    scanner.at = from;
    const value = { from, text: scanner.untilBlank(), to: scanner.at };
    const problem = bareProblem(value.text);
    if (problem !== undefined) return { values: [value], ...problem };
    return { values: [value], term: { type: "text", text: value.text, negated } };
  }
  const placed = { field, operator: { from: operator.from, to: operator.to } };
  if (word === "has") return { ...placed, ...readPresence(scanner, negated) };
  const values = scanner.values();
  const known = findField(word);
  if (known === undefined) return { ...placed, values, problem: unknownField(word) };
  return { ...placed, values, ...fieldTerm(known, { operator, values, negated }) };
}

function bareProblem(text: string): { problem: string; isUnfinished?: true } | undefined {
  if (text === "") return { problem: "what must not be there is missing", isUnfinished: true };
  if (connectors.has(text)) {
    return {
      problem: `terms hold together; list values as model:a,b, exclude with -, or quote "${text}" to search for it`,
    };
  }
  return text.includes('"') ? { problem: "put a space before the quotation mark" } : undefined;
}

function readOperator(scanner: Scanner): (Range & { text: string; operator: Operator; negated: boolean }) | undefined {
  const from = scanner.at;
  if (scanner.take(":")) {
    // `cost:>5` is common in other products.
    const spelt = operatorSpellings.find(([text]) => scanner.take(text));
    if (spelt === undefined) return { from, to: scanner.at, text: ":", operator: "is", negated: false };
    return { from, to: scanner.at, text: spelt[0], operator: spelt[1], negated: spelt[2] };
  }
  const spelt = operatorSpellings.find(([text]) => scanner.take(text));
  return spelt && { from, to: scanner.at, text: spelt[0], operator: spelt[1], negated: spelt[2] };
}

function readPresence(scanner: Scanner, negated: boolean): Unplaced {
  const from = scanner.at;
  const word = scanner.fieldWord();
  const rest = scanner.untilBlank();
  const values = [{ from, to: scanner.at, text: word }];
  const field = findField(word);
  if (word === "" && rest === "") return { values, problem: "name a field, such as has:note", isUnfinished: true };
  if (field === undefined || rest !== "") return { values, problem: unknownField(`${word}${rest}`) };
  return { values, term: { type: "has", field: field.name, negated } };
}

type Parts = {
  operator: { text: string; operator: Operator; negated: boolean };
  values: readonly ScannedValue[];
  negated: boolean;
};

function fieldTerm(field: QueryField, parts: Parts): { term: Term } | { problem: string; isUnfinished?: true } {
  const { values } = parts;
  const operator = parts.operator.text === ":" && field.isSearched === true ? "icontains" : parts.operator.operator;
  const negated = parts.negated !== parts.operator.negated;
  const last = values.at(-1);
  if (last?.isOpen === true) return { problem: "the quotation mark is not closed", isUnfinished: true };
  if (last === undefined || (last.from === last.to && values.length > 0)) {
    return { problem: `${field.word} needs a value`, isUnfinished: true };
  }
  if (values.some(({ from, to }) => from === to)) return { problem: "a value is missing between two commas" };
  const problem = termProblem(field, operator, { values, negated });
  if (problem !== undefined) return { problem };
  return { term: { type: "field", field: field.name, operator, values: values.map(({ text }) => text), negated } };
}

function termProblem(
  field: QueryField,
  operator: Operator,
  { values, negated }: { values: readonly ScannedValue[]; negated: boolean },
): string | undefined {
  if (!operatorsOf(field.kind).includes(operator)) {
    return `${field.word} is ${kindNames[field.kind]}, which takes ${field.kind === "boolean" ? ":" : ": < <= > >="} only`;
  }
  if (isComparison(operator) && values.length > 1) return "a comparison takes one value";
  if (isComparison(operator) && negated) return "turn the comparison round instead of excluding it";
  if (values.length > queryBounds.values) return `there may be ${queryBounds.values} values`;
  for (const { text, isQuoted } of values) {
    if (text.length > queryBounds.valueChars) return `a value may have ${queryBounds.valueChars} characters`;
    if (isQuoted !== true && text.includes("*")) {
      return "* is no wildcard: use ^= (starts with), $= (ends with) or ~ (contains), or quote the value";
    }
    const read = readValue(field, text);
    if ("problem" in read) return read.problem;
  }
  return undefined;
}

const kindNames = {
  text: "text",
  dynamic: "text",
  number: "a number",
  boolean: "true or false",
  time: "a time",
} as const;

function unknownField(word: string): string {
  const family = familyOf(word);
  if (family?.key === "")
    return `name a key, such as ${family.family === "metadata" ? "metadata.plan" : "score.judge"}`;
  if (family?.key.startsWith("_") === true) return "keys that begin with _ are reserved";
  return `there is no field ${shorten(word)}. Metadata is metadata.${shorten(word)}; quote words to search for them`;
}

function excessOf(query: Query): string | undefined {
  const values = query.flatMap((term) =>
    term.type === "field" ? term.values : term.type === "text" ? [term.text] : [],
  );
  if (query.length > queryBounds.terms) return `A query may have ${queryBounds.terms} terms.`;
  if (values.some((value) => value.length > queryBounds.valueChars)) {
    return `A value may have ${queryBounds.valueChars} characters.`;
  }
  const chars = values.reduce((sum, value) => sum + Math.max(8, value.length), 0);
  if (chars > queryBounds.chars) return `The values of a query may have ${queryBounds.chars} characters together.`;
  const isNew = (term: Term): boolean => term.type !== "text" && term.field === "new_messages";
  if (query.filter(isNew).length > queryBounds.newMessages) {
    return `A query may have ${queryBounds.newMessages} terms on new; one may have several values.`;
  }
  return undefined;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text;
}
