import { ServiceError } from "../../domain/errors.ts";
import type { AnyEndpoint, InnerRequest } from "../../http/endpoint.ts";
import { SchemaCollector, type JsonSchema } from "../../http/openapi-schemas.ts";
import type { ToolSpec } from "./tools.ts";

type Properties = Record<string, JsonSchema>;

/** The arguments of a tool, by the part of the operation's request that they go to. */
export type ToolArguments = Record<"params" | "query" | "body", Properties> & { required: readonly string[] };

/** The parameters of the operation, as in the API reference. */
export function argumentsOf({ without = [], presets = {} }: ToolSpec, endpoint: AnyEndpoint): ToolArguments {
  const { id, query, body, path } = endpoint;
  const schemas = new SchemaCollector({});
  const ofQuery = query === undefined ? {} : schemas.inline(id, query);
  const ofBody = body?.kind === "json" ? resolved(schemas, schemas.inline(`${id}_body`, body.schema)) : {};
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const demanded = [ofQuery, ofBody].flatMap(({ required }) => (Array.isArray(required) ? (required as string[]) : []));
  const isTaken = (name: string) => !without.includes(name);
  return {
    params: Object.fromEntries(params.map((name) => [name, { type: "string" }])),
    query: Object.fromEntries(
      Object.entries(propertiesOf(ofQuery))
        // A parameter that both accept is an object in the body, and text in the URL.
        .filter(([name]) => isTaken(name) && !Object.hasOwn(propertiesOf(ofBody), name))
        .map(([name, schema]) => [name, withPreset(schema, presets[name])]),
    ),
    body: Object.fromEntries(Object.entries(propertiesOf(ofBody)).filter(([name]) => isTaken(name))),
    required: [...params, ...demanded].filter(isTaken),
  };
}

/** Named schemas are among the components. */
function resolved({ components }: SchemaCollector, schema: JsonSchema): JsonSchema {
  const name = typeof schema["$ref"] === "string" ? schema["$ref"].replace("#/components/schemas/", "") : "";
  return components[name] ?? schema;
}

/** Zod's JSON Schema of an object has one schema for each property. */
function propertiesOf(schema: JsonSchema): Properties {
  return (schema["properties"] ?? {}) as Properties;
}

function withPreset(schema: JsonSchema, preset: string | undefined): JsonSchema {
  if (preset === undefined) return schema;
  return { ...schema, default: schema["type"] === "integer" ? Number(preset) : preset };
}

/**
 * Searches the text of spans. The operations have no such parameter, only a filter, which models would have to learn
 * first.
 */
const text = { type: "string", description: "Only spans whose input or output contains this, in any case." };

/** The JSON Schema of all arguments. */
export function argumentsSchema({ takesText }: ToolSpec, { params, query, body, required }: ToolArguments) {
  const properties: Properties = { ...params, ...(takesText && { text }), ...body, ...query };
  return { type: "object" as const, properties, required: [...required], additionalProperties: false };
}

/**
 * The request for some arguments.
 *
 * @throws ServiceError `invalid_request` that names the argument. The schemas of the operation do their own checks.
 */
export function queryOf(
  tool: ToolSpec & { arguments: ToolArguments },
  given: Readonly<Record<string, unknown>>,
): InnerRequest {
  const { params, query, body, required } = tool.arguments;
  const known = Object.keys(argumentsSchema(tool, tool.arguments).properties);
  const sent = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  for (const [name] of sent) {
    if (!known.includes(name)) throw refuse(name, `is no argument of ${tool.name}, which takes ${known.join(", ")}`);
  }
  const missing = required.find((name) => !sent.some(([known]) => known === name));
  if (missing !== undefined) throw refuse(missing, "is required");
  const sentTo = (place: Properties) => sent.filter(([name]) => Object.hasOwn(place, name));
  const textsTo = (place: Properties) =>
    Object.fromEntries(sentTo(place).map(([name, value]) => [name, textOf(name, value)]));
  const sentText = sent.find(([name]) => name === "text")?.[1];
  return {
    params: textsTo(params),
    query: {
      ...tool.presets,
      ...textsTo(query),
      ...(sentText !== undefined && { "messages[value]": textOf("text", sentText), "messages[operator]": "icontains" }),
    },
    body: Object.fromEntries(sentTo(body)),
  };
}

/** The form in a URL: lists separated by commas. */
function textOf(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(",");
  throw refuse(name, "must be text, a number, true or false, or a list of texts");
}

function refuse(argument: string, what: string): ServiceError {
  const name = argument.slice(0, 100);
  return new ServiceError("invalid_request", `${name} ${what}`, { errors: { [name]: [what] } });
}
