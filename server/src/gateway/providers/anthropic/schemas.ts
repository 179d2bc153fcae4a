import { isObject } from "../../../lib/json.ts";

/**
 * JSON schemas for constrained decoding. Anthropic supports a subset of JSON Schema and refuses the rest; unsupported
 * keywords become text in the description, as in its own SDKs.
 */

type Schema = Record<string, unknown>;

const supported = new Set([
  "$ref",
  "$id",
  "$schema",
  "type",
  "enum",
  "const",
  "default",
  "title",
  "description",
  "required",
]);
const maps = new Set(["properties", "$defs", "definitions"]);
const formats = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));

/** Reduces a schema to what the decoder supports. Only for schemas that `fitsDecoder` accepts. */
export function forDecoder(schema: Schema): Schema {
  if (typeof schema["$ref"] === "string") return { $ref: schema["$ref"] };
  const result: Schema = {};
  const words: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (maps.has(name) && isObject(value)) result[name] = mapValues(value, reduce);
    else if (name === "items") result["items"] = reduce(value);
    else if (name === "anyOf" || name === "oneOf") result["anyOf"] = Array.isArray(value) ? value.map(reduce) : value;
    else if (name === "allOf") result["allOf"] = Array.isArray(value) ? value.map(reduce) : value;
    else if (supported.has(name) || isTaken(name, value)) result[name] = value;
    else if (name !== "additionalProperties") words.push(`${name}: ${JSON.stringify(value)}`);
  }
  if (isObjectSchema(schema)) result["additionalProperties"] = false;
  if (words.length > 0) {
    const description = typeof result["description"] === "string" ? `${result["description"]}\n` : "";
    result["description"] = `${description}{${words.join(", ")}}`;
  }
  return result;
}

/**
 * Whether a decoder can be constrained to this schema without changing its meaning. False for objects with arbitrary
 * keys, which would come out empty, and for recursive schemas.
 */
export function fitsDecoder(schema: Schema): boolean {
  return fits(schema, { root: schema, answers: new Map() });
}

/**
 * The decoder's limits per request, over all tools and the response format, from Anthropic's page on structured
 * outputs.
 */
const mostStrictTools = 20;
const mostOptional = 24;
const mostUnions = 16;

type Load = { optional: number; unions: number };

/** A schema's share of these limits: optional members, and members of several types. */
function loadOf(schema: unknown): Load {
  const load: Load = { optional: 0, unions: 0 };
  addLoad(schema, load);
  return load;
}

function addLoad(schema: unknown, load: Load): void {
  if (!isObject(schema)) return;
  const { type, properties, required, items, anyOf, oneOf, allOf, $defs, definitions } = schema;
  if (Array.isArray(type) || Array.isArray(anyOf) || Array.isArray(oneOf)) load.unions += 1;
  const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
  for (const holder of [properties, $defs, definitions]) {
    if (!isObject(holder)) continue;
    for (const [name, member] of Object.entries(holder)) {
      if (holder === properties && !needed.has(name)) load.optional += 1;
      addLoad(member, load);
    }
  }
  for (const list of [anyOf, oneOf, allOf])
    if (Array.isArray(list)) for (const one of list as unknown[]) addLoad(one, load);
  addLoad(items, load);
}

/** Whether one request may constrain all of these to their schemas. */
export function holdsAll(tools: readonly unknown[], answer?: unknown): boolean {
  const loads = [...tools, ...(answer === undefined ? [] : [answer])].map(loadOf);
  const sum = (of: keyof Load): number => loads.reduce((total, load) => total + load[of], 0);
  return tools.length <= mostStrictTools && sum("optional") <= mostOptional && sum("unions") <= mostUnions;
}

/** Results for the targets of references, each checked once; `undefined` while it is being checked. */
type Search = { root: Schema; answers: Map<string, boolean | undefined> };

function fits(schema: unknown, search: Search): boolean {
  if (!isObject(schema)) return typeof schema !== "boolean";
  const ref = schema["$ref"];
  if (typeof ref === "string") return targetFits(ref, search);
  if (isObjectSchema(schema) && !isClosed(schema)) return false;
  const { properties, items, anyOf, oneOf, allOf } = schema;
  const children = [
    ...(isObject(properties) ? Object.values(properties) : []),
    ...[anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : [])),
    ...(items === undefined ? [] : [items]),
  ];
  return children.every((child) => fits(child, search));
}

function targetFits(ref: string, search: Search): boolean {
  if (search.answers.has(ref)) return search.answers.get(ref) ?? false;
  search.answers.set(ref, undefined);
  const target = resolve(ref, search.root);
  const answer = target !== undefined && fits(target, search);
  search.answers.set(ref, answer);
  return answer;
}

/** Whether the schema names its keys and does not explicitly allow others. */
function isClosed(schema: Schema): boolean {
  const { properties, additionalProperties } = schema;
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  return (
    !isOpen && schema["patternProperties"] === undefined && (isObject(properties) || additionalProperties === false)
  );
}

function isObjectSchema(schema: Schema): boolean {
  const { type } = schema;
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(schema["properties"]);
}

function isTaken(name: string, value: unknown): boolean {
  if (name === "format") return typeof value === "string" && formats.has(value);
  return name === "minItems" && (value === 0 || value === 1);
}

function reduce(schema: unknown): unknown {
  return isObject(schema) ? forDecoder(schema) : schema;
}

function mapValues(object: Schema, map: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

function resolve(ref: string, root: Schema): unknown {
  if (!ref.startsWith("#/")) return ref === "#" ? root : undefined;
  let found: unknown = root;
  for (const key of ref.slice(2).split("/")) {
    found = isObject(found) ? found[key.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return found;
}
