import type { z } from "zod";
import { errorCodes, type ErrorCode } from "../domain/errors.ts";
import { refusedToBlocked } from "../domain/permissions.ts";
import type { AnyEndpoint, BodySpec, Method } from "./endpoint.ts";
import { locationsOf } from "./mount.ts";
import { errorSchemas } from "./openapi-errors.ts";
import { SchemaCollector, type JsonSchema } from "./openapi-schemas.ts";

export type OpenApiInfo = { title: string; version: string; description?: string };

type Json = Record<string, unknown>;

/** A request that the service sends (a webhook). */
export type OutgoingRequest = { summary: string; description: string; tag: string; body: z.ZodType };

/**
 * Returns the OpenAPI 3.1 document of these endpoints. An alias with another path appears only in the description of
 * its endpoint.
 */
export function openapiDocument(
  endpoints: readonly AnyEndpoint[],
  info: OpenApiInfo,
  webhooks: Readonly<Record<string, OutgoingRequest>> = {},
): Json {
  const schemas = new SchemaCollector({ ...errorSchemas });
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const methods = (paths[endpoint.path] ??= {});
    methods[endpoint.method.toLowerCase()] = operationOf(endpoint, schemas);
    for (const method of otherMethodsOf(endpoint))
      methods[method.toLowerCase()] = aliasOperationOf(endpoint, method, schemas);
  }
  const tags = [...new Set(endpoints.flatMap((endpoint) => endpoint.tags))];
  return {
    openapi: "3.1.0",
    info,
    tags: tags.map((name) => ({ name })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(webhooks).map(([name, hook]) => [name, webhookOf(name, hook, schemas)]),
    ),
    components: {
      schemas: schemas.components,
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key." },
        user: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A person's access token." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-spanway_session",
          description:
            "The cookie of a browser that signed in with `session: true`; without TLS it is named `spanway_session`. The header " +
            "`X-Spanway-Environment: prod` or `test` says which environment the request acts in, `prod` by default. Every request but " +
            "GET and HEAD must have it, and an `Origin` that is the server's own; else it is refused with 403.",
        },
      },
    },
  };
}

function webhookOf(name: string, { summary, description, tag, body }: OutgoingRequest, schemas: SchemaCollector): Json {
  return {
    post: {
      operationId: `webhook_${name}`,
      summary,
      description,
      tags: [tag],
      requestBody: { content: { "application/json": { schema: schemas.inline(`webhook_${name}`, body) } } },
      responses: { "2XX": { description: "Received. Anything else is tried again." } },
    },
  };
}

function operationOf(endpoint: AnyEndpoint, schemas: SchemaCollector): Json {
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    tags: endpoint.tags,
    security: securityOf(endpoint),
    parameters: [
      ...pathParameters(endpoint, schemas),
      ...queryParameters(endpoint, schemas),
      ...headerParameters(endpoint),
    ],
    ...(endpoint.body !== undefined &&
      endpoint.method !== "GET" && { requestBody: requestBodyOf(endpoint, endpoint.body, schemas) }),
    responses: { [endpoint.success.status]: successOf(endpoint, schemas), ...errorsOf(endpoint) },
  };
}

/** Aliases on the endpoint's own path are operations of their own: a generated client must know them. */
function otherMethodsOf({ path, aliases }: AnyEndpoint): Method[] {
  return aliases.flatMap((alias) => (typeof alias !== "string" && alias.path === path ? [alias.method] : []));
}

function aliasOperationOf(endpoint: AnyEndpoint, method: Method, schemas: SchemaCollector): Json {
  // A path alone has the endpoint's own method.
  const aliases = endpoint.aliases.filter(
    (alias) => typeof alias !== "string" && alias.method === method && alias.path !== endpoint.path,
  );
  return {
    ...operationOf({ ...endpoint, method, aliases }, schemas),
    operationId: `${endpoint.id}_by_${method.toLowerCase()}`,
  };
}

function descriptionOf(endpoint: AnyEndpoint): string {
  const parts = endpoint.description === undefined ? [] : [endpoint.description];
  const [, ...aliases] = locationsOf(endpoint);
  if (aliases.length > 0) {
    parts.push(`Also served at ${aliases.map(({ method, path }) => `\`${method} ${path}\``).join(", ")}.`);
  }
  if (endpoint.permission !== undefined) parts.push(`Needs the permission \`${endpoint.permission}\`.`);
  for (const { parameter, permission } of endpoint.parameters) {
    parts.push(`${parameter} needs the permission \`${permission}\` too.`);
  }
  if (endpoint.environment === "own") parts.push("A key of the other environment is refused with 403.");
  return parts.join("\n\n");
}

function securityOf({ auth }: AnyEndpoint): Json[] {
  if (auth === "none") return [];
  return [...(auth === "key_or_user" ? ["key", "user"] : [auth]), "session"].map((name) => ({ [name]: [] }));
}

function pathParameters(endpoint: AnyEndpoint, schemas: SchemaCollector): Json[] {
  const declared = endpoint.params === undefined ? {} : propertiesOf(schemas.inline(endpoint.id, endpoint.params));
  return [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: declared[name] ?? { type: "string" },
  }));
}

function queryParameters(endpoint: AnyEndpoint, schemas: SchemaCollector): Json[] {
  if (endpoint.query === undefined) return [];
  const schema = schemas.inline(endpoint.id, endpoint.query);
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  return Object.entries(propertiesOf(schema)).map(([name, { description, ...property }]) => ({
    name,
    in: "query",
    required: required.has(name),
    description: description ?? "",
    schema: property,
  }));
}

function headerParameters({ docs }: AnyEndpoint): Json[] {
  return Object.entries(docs.headers?.request ?? {}).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
}

function headersOf(headers: Readonly<Record<string, string>> | undefined): Json {
  if (headers === undefined) return {};
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  return { headers: Object.fromEntries(described) };
}

/** Zod's JSON Schema of an object has one schema per property. */
function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema["properties"] ?? {}) as Record<string, JsonSchema>;
}

function requestBodyOf(endpoint: AnyEndpoint, body: BodySpec, schemas: SchemaCollector): Json {
  const schema = body.kind === "json" ? body.schema : body.documents;
  const mediaTypes = (body.kind === "raw" ? body.mediaTypes : undefined) ?? ["application/json"];
  const described = schema === undefined ? {} : schemas.inline(`${endpoint.id}_body`, schema);
  const contentOf = (type: string) =>
    body.example === undefined || type === "application/x-protobuf"
      ? { schema: described }
      : { schema: described, example: body.example };
  return { content: Object.fromEntries(mediaTypes.map((type) => [type, contentOf(type)])) };
}

function successOf({ id, success, docs }: AnyEndpoint, schemas: SchemaCollector): Json {
  const description = success.description ?? "Success.";
  if (success.schema === undefined && success.contentType === undefined) return { description };
  const schema = success.schema === undefined ? { type: "string" } : schemas.inline(`${id}_answer`, success.schema);
  const others = Object.entries(success.alternatives ?? {}).map(([type, what]) => [
    type,
    { schema: { type: "string", description: what } },
  ]);
  return {
    description,
    ...headersOf(docs.headers?.answer),
    content: { [success.contentType ?? "application/json"]: { schema }, ...Object.fromEntries(others) },
  };
}

function errorsOf(endpoint: AnyEndpoint): Record<string, Json> {
  const codes = new Set<ErrorCode>([...endpoint.errors, ...impliedErrors(endpoint)]);
  const byStatus = Object.groupBy(codes, (code) => String(errorCodes[code]));
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => [
      status,
      {
        description: describeErrors(endpoint, Number(status), group),
        ...headersOf(endpoint.docs.headers && { ...endpoint.docs.headers.answer, ...endpoint.docs.headers.error }),
        content: {
          "application/json": { schema: { $ref: `#/components/schemas/${errorSchemaName(endpoint, status)}` } },
          ...(endpoint.dialect === "otlp" && protobufStatus),
        },
      },
    ]),
  );
}

const protobufStatus = {
  "application/x-protobuf": {
    schema: { type: "string", format: "binary", description: "A google.rpc.Status, if the request was protobuf." },
  },
};

/** Raw bodies are parsed by the operation, whatever media type the client declares. */
const unreadableNotes = {
  json: "A Content-Type other than JSON, or an unknown Content-Encoding.",
  raw: "An unknown Content-Encoding, or a malformed Content-Type; a body that is not valid JSON is 400.",
} as const;

function describeErrors({ docs, body }: AnyEndpoint, status: number, codes: readonly ErrorCode[]): string {
  const named = codes.map((code) => `\`${code}\``).join(" or ");
  const note = docs.errorNotes?.[status] ?? (status === 415 ? unreadableNotes[body?.kind ?? "raw"] : undefined);
  return note === undefined ? named : `${named}. ${note}`;
}

function errorSchemaName({ dialect }: AnyEndpoint, status: string): keyof typeof errorSchemas {
  if (dialect === "openai") return "OpenAiError";
  if (dialect === "anthropic") return "AnthropicError";
  if (dialect === "jsonrpc") return "JsonRpcError";
  if (dialect === "otlp") return "RpcStatus";
  return dialect === "fields" && (status === "400" || status === "422") ? "FieldError" : "Error";
}

/** The errors that the kernel itself may return for an endpoint. */
function impliedErrors({ auth, permission, limit, params, query, body }: AnyEndpoint): ErrorCode[] {
  const codes: ErrorCode[] = ["internal"];
  if (auth !== "none") codes.push("unauthorized");
  if (permission !== undefined) codes.push("forbidden");
  if (permission !== undefined && refusedToBlocked.has(permission)) codes.push("organization_blocked");
  if (limit !== "none") codes.push("rate_limited");
  if (params !== undefined) codes.push("not_found");
  if (query !== undefined) codes.push("invalid_request");
  if (body !== undefined) codes.push("invalid_request", "payload_too_large", "unsupported_media_type", "unavailable");
  if (body?.kind === "json" && body.invalidBody !== undefined) codes.push(body.invalidBody);
  return codes;
}
