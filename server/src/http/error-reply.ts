import type { OutgoingHttpHeaders } from "node:http";
import { anthropicErrorBody } from "../domain/anthropic-errors.ts";
import { errorCodes, ServiceError, wholeBody, type ErrorCode, type FieldErrors } from "../domain/errors.ts";
import { content, reply, type Reply } from "./reply.ts";

/**
 * The shapes an error body may have:
 * - `default`: `{detail, code, …}`
 * - `fields`: as default, but field errors are a bare object keyed by field name
 * - `openai`: `{error: {message, type, param, code}}`
 * - `anthropic`: `{type: "error", error: {type, message}, request_id}`
 * - `jsonrpc`: `{jsonrpc: "2.0", id: null, error: {code, message, data: {code, …}}}`
 * - `otlp`: google.rpc.Status, in the encoding of the request
 */
export type Dialect = "default" | "fields" | "openai" | "anthropic" | "jsonrpc" | "otlp";

/** The parts of an error that the caller may see. */
type Failure = {
  code: ErrorCode;
  status: number;
  detail: string;
  errors: FieldErrors | undefined;
  retryAfterS: number | undefined;
  requestId: string;
};

export type ErrorContext = {
  dialect: Dialect;
  requestId: string;
  /** Media type of the request, lower-case and without parameters. */
  requestContentType: string;
};

/**
 * The only place that turns a thrown value into a response. Anything that is not a `ServiceError` reveals no internals.
 */
export function errorReply(error: unknown, context: ErrorContext): Reply {
  const failure = describe(error, context.requestId);
  return dialects[context.dialect](failure, headersOf(failure), context.requestContentType);
}

function describe(error: unknown, requestId: string): Failure {
  if (error instanceof ServiceError && error.code !== "internal") {
    const { code, errors, message } = error;
    const retryAfterS = error.retryAfterS ?? (code === "unavailable" || code === "rate_limited" ? 1 : undefined);
    return { code, status: errorCodes[code], detail: message, errors, retryAfterS, requestId };
  }
  const resource = missingResource(error);
  if (resource !== undefined) {
    const detail = `The server cannot do this now: ${resource}. Please try again.`;
    return { code: "unavailable", status: 503, detail, errors: undefined, retryAfterS: 5, requestId };
  }
  const detail = `Something went wrong on our side. Please quote the request id ${requestId} when you report it.`;
  return { code: "internal", status: 500, detail, errors: undefined, retryAfterS: undefined, requestId };
}

function headersOf(failure: Failure): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  if (failure.retryAfterS !== undefined) headers["retry-after"] = String(Math.ceil(failure.retryAfterS));
  if (failure.status === 401) headers["www-authenticate"] = "Bearer";
  return headers;
}

type Writer = (failure: Failure, headers: OutgoingHttpHeaders, requestContentType: string) => Reply;

const writeDefault: Writer = (failure, headers) => {
  const { status, detail, code, errors, retryAfterS, requestId } = failure;
  return reply(
    status,
    {
      detail,
      code,
      // Clients in use read `message` on 400 and `error` on 404.
      ...(status === 400 && { message: detail }),
      ...(status === 404 && { error: detail }),
      ...(errors !== undefined && { errors }),
      ...(retryAfterS !== undefined && { retry_after: Math.ceil(retryAfterS) }),
      ...(status === 500 && { request_id: requestId }),
    },
    headers,
  );
};

const writeFields: Writer = (failure, headers, requestContentType) =>
  // A problem of the whole body has no field name to use as key.
  failure.errors === undefined || Object.hasOwn(failure.errors, wholeBody)
    ? writeDefault(failure, headers, requestContentType)
    : reply(failure.status, nestByDots(failure.errors), headers);

const openaiTypes: Partial<Record<ErrorCode, string>> = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  organization_blocked: "permission_error",
  rate_limited: "rate_limit_error",
  no_credential: "upstream_error",
  upstream_failed: "upstream_error",
  internal: "server_error",
  unavailable: "server_error",
};

const writeOpenai: Writer = (failure, headers) => {
  const param = failure.errors === undefined ? null : (Object.keys(failure.errors)[0] ?? null);
  const type = openaiTypes[failure.code] ?? "invalid_request_error";
  return reply(failure.status, { error: { message: failure.detail, type, param, code: failure.code } }, headers);
};

const writeAnthropic: Writer = ({ status, detail, requestId }, headers) =>
  reply(status, anthropicErrorBody({ status, message: detail }, requestId), { ...headers, "request-id": requestId });

/**
 * https://www.jsonrpc.org/specification#error_object. HTTP errors use -32000, a code that the specification leaves to
 * servers.
 */
const writeJsonRpc: Writer = ({ status, detail, code, errors, requestId }, headers) => {
  const isUnread = code === "invalid_request" && errors !== undefined && Object.hasOwn(errors, wholeBody);
  const data = { code, ...(errors !== undefined && { errors }), ...(status === 500 && { request_id: requestId }) };
  const error = { code: isUnread ? -32_700 : -32_000, message: detail, data };
  return reply(status, { jsonrpc: "2.0", id: null, error }, headers);
};

const writeOtlp: Writer = (failure, headers, requestContentType) => {
  const code = rpcCodes[failure.code];
  if (requestContentType === "application/x-protobuf" || requestContentType === "application/protobuf") {
    return content(requestContentType, encodeRpcStatus(code, failure.detail), { status: failure.status, headers });
  }
  return reply(failure.status, { code, message: failure.detail, details: [] }, headers);
};

const dialects: Record<Dialect, Writer> = {
  default: writeDefault,
  fields: writeFields,
  openai: writeOpenai,
  anthropic: writeAnthropic,
  jsonrpc: writeJsonRpc,
  otlp: writeOtlp,
};

type Nested = { [field: string]: string[] | Nested };

/**
 * `{"a.b": [m]}` becomes `{a: {b: [m]}}`; messages of fields below one that has its own messages are added to those.
 */
function nestByDots(errors: FieldErrors): Nested {
  const root: Nested = Object.create(null);
  for (const [path, messages] of Object.entries(errors)) {
    const names = path.split(".");
    const last = names.pop() ?? path;
    let node = root;
    let owner: string[] | undefined;
    for (const name of names) {
      const next: string[] | Nested = (node[name] ??= Object.create(null) as Nested);
      if (Array.isArray(next)) {
        owner = next;
        break;
      }
      node = next;
    }
    const existing = node[last];
    if (owner !== undefined) owner.push(...messages);
    else if (Array.isArray(existing)) existing.push(...messages);
    else node[last] = [...messages];
  }
  return root;
}

/** Resources that a server may lack temporarily, by the error codes that report it. */
const resources: ReadonlyArray<readonly [codes: RegExp, resource: string]> = [
  // File systems, SQLite (13 is SQLITE_FULL), Postgres and ClickHouse (243 is NOT_ENOUGH_SPACE).
  [/^(?:ENOSPC|EDQUOT|SQLITE_FULL|53100|243)$/, "its disk is full"],
  [/^(?:EMFILE|ENFILE)$/, "it has no file descriptors left"],
  // Postgres: connection exceptions, shutdown and restart, too many connections; sockets.
  [
    /^(?:08...|57P0[123]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/,
    "its database does not answer",
  ],
];

/** Errors of `pg` that have no code. */
const messages: ReadonlyArray<readonly [message: RegExp, resource: string]> = [
  [
    /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed))/,
    "its database does not answer",
  ],
  [/database or disk is full|No space left on device|MDB_MAP_FULL/, "its disk is full"],
  [/too many open files/i, "it has no file descriptors left"],
];

/** By SQLite's primary result code, the low byte of `errcode`. */
const sqliteResources = new Map([
  [5, "its database is locked by another process"],
  [13, "its disk is full"],
]);

const maxCauses = 8;

/** Returns the missing resource that caused an error; undefined for every other error. */
export function missingResource(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < maxCauses; depth += 1) {
    const { code, errcode, message } = cause as Error & { code?: unknown; errcode?: unknown };
    for (const [codes, resource] of resources) {
      if (typeof code === "string" && codes.test(code)) return resource;
    }
    const missing = typeof errcode === "number" ? sqliteResources.get(errcode & 0xff) : undefined;
    if (missing !== undefined) return missing;
    const found = messages.find(([pattern]) => pattern.test(message));
    if (found !== undefined) return found[1];
    ({ cause } = cause);
  }
  return undefined;
}

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const rpcCodes: Record<ErrorCode, number> = {
  invalid_request: 3,
  organization_blocked: 7,
  unauthorized: 16,
  forbidden: 7,
  not_found: 5,
  method_not_allowed: 12,
  conflict: 10,
  payload_too_large: 3,
  query_too_large: 8,
  unsupported_media_type: 3,
  expectation_failed: 3,
  validation_failed: 3,
  too_many_rows: 3,
  no_credential: 9,
  upstream_failed: 14,
  rate_limited: 8,
  internal: 13,
  unavailable: 14,
};

/** A google.rpc.Status in protobuf: field 1 is the code (varint), field 2 the message (length-delimited). */
function encodeRpcStatus(code: number, message: string): Buffer {
  const text = Buffer.from(message, "utf8");
  return Buffer.concat([Buffer.from([0x08, code, 0x12, ...varint(text.length)]), text]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return bytes;
}
