import { lookUp } from "../../lib/look-up.ts";
import * as field from "../../validation/field-readers.ts";
import { Problem, type Reader } from "../../validation/field-readers.ts";
import { isObject, isRawNumber } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { gatewayLimits } from "../limits.ts";

/**
 * Readers of service parameters (see `ingest/field-readers.ts`), each with the JSON Schema of its input. The API
 * reference is generated from the readers that the gateway itself uses.
 */
export type ParamReader<T> = Reader<T> & { readonly schema: JsonSchema };

export type JsonSchema = Readonly<Record<string, unknown>>;

function reader<T>(schema: JsonSchema, read: Reader<T>): ParamReader<T> {
  return Object.assign((value: unknown) => read(value), { schema });
}

/** The same reader with a description of the parameter. */
export function about<T>(description: string, read: ParamReader<T>): ParamReader<T> {
  return reader({ ...read.schema, description }, read);
}

const boundedText = { type: "string", maxLength: domainLimits.identifierChars };
export const identifier = reader(boundedText, field.identifier);
export const customerIdentifier = reader(boundedText, field.customerIdentifier);
export const name = reader({ type: "string" }, field.name);
export const object = reader({ type: "object" }, field.object);
export const customerParams = reader(
  {
    type: "object",
    properties: { customer_identifier: boundedText, email: boundedText },
    description: "`name`, budgets and `rate_limit` as of customers.",
  },
  field.customerParams,
);
export const boolean = reader({ type: "boolean" }, field.boolean);

/** A number above 0. Numbers with more digits than a double can hold are refused. */
export const positive = reader<number>({ type: "number", exclusiveMinimum: 0 }, (value) =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : new Problem("must be a number above 0"),
);

export const positiveOrZero = reader<number>({ type: "number", minimum: 0 }, (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0
    ? value
    : new Problem("must be a number, 0 or above"),
);

export function wholeNumber(min: number, max: number): ParamReader<number> {
  return reader({ type: "integer", minimum: min, maximum: max }, (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? value
      : new Problem(`must be a whole number from ${min} to ${max}`),
  );
}

export const flag = reader<boolean>({ type: "boolean" }, (value) =>
  typeof value === "boolean" ? value : new Problem("must be true or false"),
);

export const word = reader<string>(boundedText, (value) => {
  if (typeof value !== "string") return new Problem("must be a string");
  if (value.length > domainLimits.identifierChars) {
    return new Problem(`must be at most ${domainLimits.identifierChars} characters long`);
  }
  return value === "" ? undefined : value;
});

export function listOf<T>(read: ParamReader<T>): ParamReader<T[]> {
  return reader({ type: "array", items: read.schema, maxItems: gatewayLimits.serviceParamItems }, (value) => {
    if (!Array.isArray(value)) return new Problem("must be a list");
    if (value.length > gatewayLimits.serviceParamItems) {
      return new Problem(`must hold at most ${gatewayLimits.serviceParamItems} items`);
    }
    const items: T[] = [];
    for (const [index, item] of (value as unknown[]).entries()) {
      const taken = read(item);
      if (taken instanceof Problem) return new Problem(`holds a bad item: number ${index} ${taken.message}`);
      if (taken !== undefined) items.push(taken);
    }
    return items;
  });
}

/** An object with arbitrary keys, at most as many as a list may have items. */
export function mapOf<T>(read: ParamReader<T>): ParamReader<Record<string, T>> {
  const schema = { type: "object", additionalProperties: read.schema, maxProperties: gatewayLimits.serviceParamItems };
  return reader(schema, (value) => {
    if (!isObject(value)) return new Problem("must be an object");
    const entries = Object.entries(value);
    if (entries.length > gatewayLimits.serviceParamItems) {
      return new Problem(`must hold at most ${gatewayLimits.serviceParamItems} members`);
    }
    // Without a prototype: keys come from the caller and may include `__proto__`.
    const map: Record<string, T> = Object.create(null) as Record<string, T>;
    for (const [key, member] of entries) {
      if (member === null) continue;
      const taken = read(member);
      if (taken instanceof Problem) return new Problem(`holds a bad member: ${key} ${taken.message}`);
      if (taken !== undefined) map[key] = taken;
    }
    return map;
  });
}

type Shape = Record<string, ParamReader<unknown>>;
type ValueOf<R> = R extends Reader<infer T> ? T : never;
export type ValuesOf<S extends Shape, Required extends keyof S = never> = {
  -readonly [K in Exclude<keyof S, Required>]?: ValueOf<S[K]>;
} & { -readonly [K in Required]: ValueOf<S[K]> };

/** An object whose members have their own readers. `isClosed` refuses other members, which are otherwise ignored. */
export function objectOf<S extends Shape, Required extends keyof S & string = never>(
  shape: S,
  { required = [], isClosed = false }: { required?: readonly Required[]; isClosed?: boolean } = {},
): ParamReader<ValuesOf<S, Required>> {
  const properties = Object.fromEntries(Object.entries(shape).map(([key, { schema }]) => [key, schema]));
  const schema = { type: "object", properties, required, ...(isClosed && { additionalProperties: false }) };
  return reader(schema, (value) => {
    if (!isObject(value)) return new Problem("must be an object");
    const values: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const read = lookUp(shape, key);
      if (read === undefined) {
        if (isClosed) return new Problem(`holds an unknown member: ${key}`);
        continue;
      }
      if (member === null) continue;
      const taken = read(member);
      if (taken instanceof Problem) return new Problem(`holds a bad member: ${key} ${taken.message}`);
      if (taken !== undefined) values[key] = taken;
    }
    // Safe: each member comes from the reader that determines its type, and the required ones are present.
    const missing = required.find((key) => values[key] === undefined);
    return missing === undefined ? (values as ValuesOf<S, Required>) : new Problem(`must hold ${missing}`);
  });
}

/** Either of two forms. The error for a value that matches neither is that of the first. */
export function either<A, B>(first: ParamReader<A>, second: ParamReader<B>): ParamReader<A | B> {
  return reader<A | B>({ anyOf: [first.schema, second.schema] }, (value) => {
    const taken = first(value);
    if (!(taken instanceof Problem)) return taken;
    const other = second(value);
    return other instanceof Problem ? taken : other;
  });
}

/**
 * A member of a credential; session tokens are long. Numbers are converted to text, as versions are written both ways.
 */
export const credentialText = reader<string>(
  { type: ["string", "number"], maxLength: gatewayLimits.credentialChars },
  (value) => {
    if (isRawNumber(value)) return value.rawJSON;
    if (typeof value === "number") return String(value);
    if (typeof value !== "string") return new Problem("must be a string");
    if (value.length > gatewayLimits.credentialChars) {
      return new Problem(`must be at most ${gatewayLimits.credentialChars} characters long`);
    }
    return value === "" ? undefined : value;
  },
);
