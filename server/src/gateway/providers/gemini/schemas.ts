import { isObject } from "../../../lib/json.ts";
import { omit } from "../../../lib/omit.ts";

type Schema = Record<string, unknown>;

/** Keywords that Gemini accepts unchanged. Source: `responseJsonSchema` in the reference of GenerationConfig. */
const supported = new Set([
  "type",
  "title",
  "description",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "propertyOrdering",
]);
/** Keywords that do not constrain values. */
const dropped = new Set(["$defs", "definitions", "$schema", "$id", "$anchor", "$comment", "$ref"]);
const formats = new Set(["date-time", "date", "time", "float", "double", "int32", "int64"]);

// A schema that exceeds these when its references are expanded is too large for a model to follow.
const maxNodes = 5_000;
const maxDepth = 48;
const maxWords = 200;

/**
 * Reduces a JSON schema to the subset that Gemini accepts; it refuses the rest. References are expanded; a recursive
 * one becomes any object; keywords without a counterpart become text in the description.
 */
export function forGemini(schema: Schema): Schema {
  return new SchemaWriter(schema).write(schema, 0);
}

class SchemaWriter {
  readonly #root: Schema;
  readonly #referring = new Set<string>();
  #nodes = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  write(schema: unknown, depth: number): Schema {
    this.#nodes += 1;
    if (!isObject(schema)) return {};
    if (depth > maxDepth || this.#nodes > maxNodes) return anyObject(schema);
    if (typeof schema["$ref"] === "string") return this.#follow(schema["$ref"], schema, depth);
    if (Array.isArray(schema["allOf"])) return this.#merge(schema["allOf"] as unknown[], schema, depth);
    return this.#rewrite(schema, depth);
  }

  /** Keywords beside a reference apply too, as in newer drafts. */
  #follow(ref: string, schema: Schema, depth: number): Schema {
    const beside = omit(schema, "$ref");
    const target = resolve(ref, this.#root);
    if (target === undefined || this.#referring.has(ref)) return { ...anyObject(target), ...described(beside) };
    this.#referring.add(ref);
    const written = this.write({ ...target, ...beside }, depth + 1);
    this.#referring.delete(ref);
    return written;
  }

  #merge(all: unknown[], schema: Schema, depth: number): Schema {
    const beside = omit(schema, "allOf");
    const parts = [...all, beside].map((part) => this.write(part, depth + 1));
    const properties = Object.assign({}, ...parts.map((part) => part["properties"])) as Schema;
    const required = new Set(parts.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : [])));
    return {
      ...(Object.assign({}, ...parts) as Schema),
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
      ...(required.size > 0 ? { required: [...required] } : {}),
    };
  }

  #rewrite(schema: Schema, depth: number): Schema {
    const result: Schema = {};
    const words: string[] = [];
    for (const [name, value] of Object.entries(schema)) {
      if (dropped.has(name)) continue;
      if (supported.has(name) && isPlain(value)) result[name] = value;
      else if (!this.#copyMember(name, value, result, depth)) addWords(name, value, words);
    }
    completeArray(result);
    completeRequired(result);
    if (words.length > 0) {
      const description = typeof result["description"] === "string" ? `${result["description"]}\n` : "";
      result["description"] = `${description}{${words.join(", ")}}`;
    }
    return result;
  }

  /** Converts one keyword. Returns whether it has a counterpart. */
  #copyMember(name: string, value: unknown, result: Schema, depth: number): boolean {
    const each = (list: unknown[]): Schema[] => list.map((one) => this.write(one, depth + 1));
    switch (name) {
      case "properties":
        if (isObject(value)) {
          result[name] = Object.fromEntries(
            Object.entries(value).map(([key, one]) => [key, this.write(one, depth + 1)]),
          );
        }
        return true;
      case "items":
        if (Array.isArray(value)) result["prefixItems"] = each(value);
        else result["items"] = this.write(value, depth + 1);
        return true;
      case "prefixItems":
      case "anyOf":
      case "oneOf":
        if (Array.isArray(value)) result[name === "oneOf" ? "anyOf" : name] = each(value);
        return true;
      case "additionalProperties":
        result[name] = typeof value === "boolean" ? value : this.write(value, depth + 1);
        return true;
      case "required":
        if (Array.isArray(value)) result[name] = value;
        return true;
      case "nullable":
        if (value === true) result["type"] = withNull(result["type"]);
        return true;
      case "const":
        return copyValues([value], result);
      case "enum":
        return Array.isArray(value) && copyValues(value, result);
      case "format":
        if (typeof value === "string" && formats.has(value)) result[name] = value;
        return result[name] !== undefined;
      default:
        return false;
    }
  }
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === "string");
  return typeof value === "string" || typeof value === "number";
}

/** `enum` may contain only strings and numbers; null and booleans become types. */
function copyValues(values: unknown[], result: Schema): boolean {
  const listed = values.filter((value) => typeof value === "string" || typeof value === "number");
  const others = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  if (others.has("object")) return false;
  if (others.has("boolean")) {
    result["type"] ??= "boolean";
    return listed.length === 0;
  }
  if (listed.length > 0) {
    result["enum"] = listed;
    result["type"] ??= listed.every((value) => typeof value === "string") ? "string" : "number";
  } else result["type"] = "null";
  if (others.has("null")) result["type"] = withNull(result["type"]);
  return true;
}

function withNull(type: unknown): unknown {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== undefined) as unknown[];
  return types.length === 0 || types.includes("null") ? type : [...types, "null"];
}

function completeArray(schema: Schema): void {
  const { type } = schema;
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  if (isArray && schema["items"] === undefined && schema["prefixItems"] === undefined) schema["items"] = {};
}

/** Gemini refuses required properties that are not declared. */
function completeRequired(schema: Schema): void {
  const { properties, required } = schema;
  if (!Array.isArray(required)) return;
  const known = required.filter((name) => isObject(properties) && Object.hasOwn(properties, String(name)));
  if (known.length > 0) schema["required"] = known;
  else delete schema["required"];
}

function addWords(name: string, value: unknown, words: string[]): void {
  const text = JSON.stringify(value) ?? "";
  if (text.length > 0 && text.length <= maxWords) words.push(`${name}: ${text}`);
}

/** The fallback for a schema that cannot be expanded. */
function anyObject(schema: Schema | undefined): Schema {
  const isOther = schema !== undefined && typeof schema["type"] === "string" && schema["type"] !== "object";
  return isOther ? { type: schema["type"], ...(schema["type"] === "array" ? { items: {} } : {}) } : { type: "object" };
}

function described({ title, description }: Schema): Schema {
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
}

/** Resolves `#`, `#/$defs/name` or any other pointer into the schema. */
function resolve(ref: string, root: Schema): Schema | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const segment of ref.slice(2).split("/")) {
    const name = decoded(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Schema)[name];
  }
  return isObject(found) ? found : undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
