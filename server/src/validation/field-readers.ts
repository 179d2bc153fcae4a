import { domainLimits } from "../domain/limits.ts";
import { isNamable } from "../domain/naming.ts";
import { filterLimits } from "../filter/limits.ts";
import { httpLimits } from "../http/limits.ts";
import { countJsonNodes, isObject, isRawNumber, countNodes, parseJsonText } from "../lib/json.ts";
import { parseTimeNs } from "../lib/time.ts";
import { pricingLimits } from "../pricing/limits.ts";

/**
 * Readers of single values of a span body. Each takes any JSON value except null and returns the value to store,
 * `undefined` if it counts as absent, or a `Problem`: a message that completes "<field> …".
 */
export class Problem {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export type Reader<T> = (value: unknown) => T | undefined | Problem;

const boundedText =
  (maxChars: number): Reader<string> =>
  (value) => {
    if (typeof value !== "string") return new Problem("must be a string");
    if (value.length > maxChars) return new Problem(`must be at most ${maxChars} characters long`);
    return value === "" ? undefined : value;
  };

export const identifier = boundedText(domainLimits.identifierChars);

export const customerIdentifier: Reader<string> = (value) => {
  const name = identifier(value);
  return typeof name !== "string" || isNamable(name) ? name : new Problem("must not be ., .. or list");
};

/** Names are labels: a long one is truncated rather than refused. */
export const name: Reader<string> = (value) => {
  if (typeof value !== "string") return new Problem("must be a string");
  return value === "" ? undefined : truncateText(value, httpLimits.nameChars);
};

function truncateText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, maxChars).toWellFormed();
}

export const text: Reader<string> = (value) => {
  if (typeof value !== "string") return new Problem("must be a string");
  return value === "" ? undefined : value;
};

/** Finite numbers, also as text; infinities and NaN count as absent. */
export const finiteNumber: Reader<number> = (value) => {
  if (value === "") return undefined;
  const number = toNumber(value);
  if (number === undefined) return new Problem("must be a number");
  return Number.isFinite(number) ? number : undefined;
};

function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (typeof value === "string" && /^\s*[+-]?(?:nan|inf(?:inity)?)\s*$/i.test(value)) return Number.NaN;
  if (typeof value === "string" && /^\s*-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(value))
    return Number(value);
  return undefined;
}

/** USD. */
export const money: Reader<number> = (value) => upTo(finiteNumber(value), pricingLimits.costUsdMax);

function upTo(number: number | undefined | Problem, max: number): number | undefined | Problem {
  if (typeof number !== "number") return number;
  if (number < 0) return new Problem("must not be negative");
  return number > max ? new Problem(`must be at most ${max}`) : number;
}

export const integer: Reader<number> = (value) => {
  const number = finiteNumber(value);
  if (typeof number !== "number") return number;
  return Number.isSafeInteger(number) ? number : new Problem("must be an integer");
};

export const count: Reader<number> = (value) => upTo(integer(value), pricingLimits.countMax);

/** Seconds. Clock skew can produce negative values, or centuries: these count as absent and do not fail the span. */
export const seconds: Reader<number> = (value) => {
  const number = finiteNumber(value);
  return typeof number === "number" && (number < 0 || number > pricingLimits.secondsMax) ? undefined : number;
};

export const boolean: Reader<boolean> = (value) => {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === 1) return true;
  if (value === "false" || value === 0) return false;
  return value === "" ? undefined : new Problem("must be true or false");
};

/** Nanoseconds since the epoch. */
export const time: Reader<bigint> = (value) => {
  if (value === "") return undefined;
  // Nanoseconds that were parsed already: JSON has no bigint.
  if (typeof value === "bigint") return value;
  const readable = typeof value === "string" || typeof value === "number";
  const ns = isRawNumber(value) ? parseTimeNs(value.rawJSON) : readable ? parseTimeNs(value) : undefined;
  return ns ?? new Problem("must be an ISO 8601 time or an epoch number between 1900 and 2262");
};

export const object: Reader<Record<string, unknown>> = (value) => {
  if (value === "") return undefined;
  return isObject(value) ? value : new Problem("must be an object");
};

const customerMembers: ReadonlyArray<[string, Reader<string>]> = [
  ["customer_identifier", customerIdentifier],
  ["email", identifier],
];

/**
 * The customer of a span: its members have the limits of the corresponding fields, so that both places accept the same
 * values.
 */
export const customerParams: Reader<Record<string, unknown>> = (value) => {
  const params = object(value);
  if (params === undefined || params instanceof Problem) return params;
  for (const [member, reader] of customerMembers) {
    const read = params[member] === undefined || params[member] === null ? undefined : reader(params[member]);
    if (read instanceof Problem) return new Problem(`holds a bad member: ${member} ${read.message}`);
  }
  return params;
};

export const list: Reader<unknown[]> = (value) => {
  if (value === "") return undefined;
  return Array.isArray(value) ? (value as unknown[]) : new Problem("must be a list");
};

export const textOrList: Reader<string | unknown[]> = (value) =>
  typeof value === "string" || Array.isArray(value) ? orAbsent(value) : new Problem("must be a string or a list");

export const textOrObject: Reader<string | Record<string, unknown>> = (value) =>
  typeof value === "string" || isObject(value) ? orAbsent(value) : new Problem("must be a string or an object");

function orAbsent<T>(value: T): T | undefined {
  return value === "" ? undefined : value;
}

/** Text unchanged; anything else is stored as JSON text. */
export const textOrJson: Reader<unknown> = (value) => (value === "" ? undefined : value);

export const anyJson: Reader<unknown> = (value) => (value === "" ? undefined : value);

/** A long number keeps its digits, as text; names such as `latest` are accepted too. */
export const version: Reader<string | number> = (value) => {
  if (typeof value === "number" || typeof value === "string") return value === "" ? undefined : value;
  return isRawNumber(value) ? value.rawJSON : new Problem("must be a number or a string");
};

/** Reads objects and lists sent as JSON text within JSON, as OpenTelemetry attributes carry them. */
export type NestedJson = {
  /** Returns the parsed tree; the text itself if it is not a tree; a `Problem` if it is too large. */
  read(text: string): unknown;
};

/**
 * `maxNodes` bounds the keys and values of all texts together: the request's own bound does not cover the content of
 * strings.
 */
export function createNestedJson(maxNodes: number): NestedJson {
  let nodesLeft = maxNodes;
  return {
    read(text) {
      const first = text.trimStart().charAt(0);
      if (first !== "{" && first !== "[") return text;
      // A text has no more keys and values than characters. Counting a parsed tree is cheaper than counting text.
      if (text.length > nodesLeft && countJsonNodes(Buffer.from(text), nodesLeft) > nodesLeft)
        return new Problem(`must not bring a request over ${maxNodes} keys and values`);
      const parsed = parseJsonText(text);
      const nodes = parsed.ok ? countNodes(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes) : undefined;
      nodesLeft -= typeof nodes === "number" ? nodes : countJsonNodes(Buffer.from(text), nodesLeft);
      if (!parsed.ok) return text;
      if (nodes === "depth") return new Problem(`must not nest deeper than ${filterLimits.spanDepth} levels`);
      if (nodes === "nodes") return new Problem(`must not hold more than ${domainLimits.spanNodes} values`);
      return parsed.value;
    },
  };
}
