import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { ErrorCode, ServiceError } from "../domain/errors.ts";
import { auditedPermissions, type Permission } from "../domain/permissions.ts";
import type { Auth, PrincipalOf } from "./authenticate.ts";
import type { Dialect } from "./error-reply.ts";
import type { RateLimitRule } from "./rate-limit.ts";
import type { BodyWatch } from "./read-body.ts";
import type { RawJson, Reply } from "./reply.ts";
import type { ResponseWriter } from "./response-writer.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Another path, or another method on a path, that reaches the same handler. */
type Alias = string | { method: Method; path: string };

/** For the API reference: a body that a server takes as it stands, but for ids that it does not have. Members of forms that begin with `@` are files. */
type Example = Record<string, unknown> | readonly unknown[];

/** A small JSON body, at most `limits.controlBodyBytes`. An absent body reads as `{}`. */
type JsonBody<S extends z.ZodType = z.ZodType> = {
  kind: "json";
  schema: S;
  example?: Example;
  /** What a body that does not fit the schema is answered with. Default `invalid_request` (400). */
  invalidBody?: "invalid_request" | "validation_failed";
  /**
   * What answers about the resource have. A member that neither this nor the schema knows is refused by its name, as it is
   * most likely a slip of the pen; what is shown and not taken is left alone, so that what was read can be sent back.
   * Without it, members that the schema does not know are passed over.
   */
  shown?: z.ZodObject;
};

/** A body that the handler reads itself, decompressed. `documents` describes it in the API reference only. */
type RawBody = {
  kind: "raw";
  maxBytes: number;
  /** What the sender of a body beyond `maxBytes` is told; by default that bound. */
  tooLarge?: string;
  /** Watches a body that is long in coming, and may refuse it before it is there. One that is encoded is not watched. */
  watch?: (context: Context) => BodyWatch;
  documents?: z.ZodType;
  example?: Example;
  /** Media types for the API reference. Default `application/json`. */
  mediaTypes?: readonly string[];
};

export type BodySpec = JsonBody | RawBody;

/** `contentType` is the lower-case media type without its parameters, or "" where the client sent none. */
export type RawBodyValue = { bytes: Buffer; contentType: string };

type BodyOf<B> = B extends JsonBody<infer S> ? z.output<S> : B extends RawBody ? RawBodyValue : undefined;
type OutputOf<S, Absent> = S extends z.ZodType ? z.output<S> : Absent;
type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & PathParams<Rest>
  : unknown;

/** All that a handler knows of its request. */
export type Context<Principal = unknown, Params = unknown, Query = unknown, Body = unknown> = {
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** HEAD comes to the handler of GET; what is written as a body goes nowhere. */
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The query string as sent, for parameters that no schema knows beforehand. */
  readonly rawQuery: URLSearchParams;
  /** The same with its `?`, untouched; "" where there is none. */
  readonly search: string;
  /** The absolute URL of this request as its caller sees it; the base of `next` and `previous` links. */
  readonly url: URL;
  /** Those of this server's own pages: of the address that the request names, as trusted proxies state it, and of the public URL. */
  readonly origins: readonly string[];
  readonly requestId: string;
  /** The caller's address. */
  readonly ip: string;
  /**
   * Aborted when the client goes away before it has the whole answer; and with a ServiceError for its reason when the server stops
   * and can wait no longer.
   */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch at which the request arrived. */
  readonly startedAtMs: number;
  /** Milliseconds since the request arrived, by a monotonic clock. */
  elapsedMs(): number;
  /**
   * Takes over the response, for streams: from here on the handler writes it, ends it and minds `signal`.
   * What the handler returns is ignored. Should it throw, the connection is cut, or the error sent if nothing was.
   */
  hijack(): ResponseWriter;
  /**
   * Runs another operation for the same caller: with its permission, limits, turns, validation and audit, and counted in the metrics of
   * its route. Resolves to what a request of its own would be answered with, errors included (in the default dialect).
   */
  perform(endpoint: AnyEndpoint, asked: Asked): Promise<Reply>;
};

/** A request for an operation without HTTP. */
export type Asked = {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: unknown;
};

type SuccessSpec<S extends z.ZodType | undefined = z.ZodType | undefined> = {
  status: number;
  /** The JSON body; none where absent. */
  schema?: S;
  description?: string;
  /** The media type where the body is not JSON. */
  contentType?: string;
  /** Other media types that it may have, each with what it is then. */
  alternatives?: Readonly<Record<string, string>>;
};

/** What only the API reference needs: headers by name, further words on errors by status. */
type DocsSpec = {
  headers?: Readonly<Record<"request" | "answer" | "error", Readonly<Record<string, string>>>>;
  errorNotes?: Readonly<Record<number, string>>;
};

type Result<S> = (S extends z.ZodType ? z.input<S> : void) | Reply | RawJson;

/** `parameter` names it for people. */
export type ParameterPermission = { parameter: string; permission: Permission };

export type EndpointSpec<
  Path extends string,
  A extends Auth,
  P extends z.ZodType | undefined,
  Q extends z.ZodType | undefined,
  B extends BodySpec | undefined,
  S extends z.ZodType | undefined,
> = {
  /** Unique, snake_case; the operationId of the API reference. */
  id: string;
  method: Method;
  /** The canonical path, parameters as `{name}`. It answers with and without its trailing slash. */
  path: Path;
  aliases?: readonly Alias[];
  summary: string;
  description?: string;
  tags: readonly string[];
  auth: A;
  permission?: Permission;
  /** Members and query parameters that take a permission of their own: what they do is what another route does. */
  parameters?: readonly ParameterPermission[];
  /**
   * `own`: it changes what lies in an environment, and so what lies in that of the key alone (`requireOwnEnvironment`).
   * Absent: it reads, adds to the environment of the key, or changes what lies in none.
   */
  environment?: "own";
  /** Whether a success is written to the audit log. Default: true for changes that need one of `auditedPermissions`. */
  isAudited?: boolean;
  /** What the audit log says that it was done to. Default: what the path names, else what was made. */
  auditTarget?: (context: Context<PrincipalOf[A], OutputOf<P, PathParams<Path>>, OutputOf<Q, undefined>>) => string;
  /** Default `none`. */
  limit?: RateLimitRule | "none";
  /** That it reads much of the span store, and so waits for its turn where many do (`limits.readsInFlight`). */
  takesTurns?: boolean;
  /** Refuses pages of other origins (`refuseForeignOrigin`), as protocols ask of servers that people run on their own machine. */
  refusesForeignOrigins?: boolean;
  /** The shape of this endpoint's error bodies. Default `default`. */
  dialect?: Dialect;
  /** Checks path parameters further; without it they are plain strings. A mismatch is 404: there is no such thing. */
  params?: P;
  query?: Q;
  body?: B;
  /**
   * Told of a body that was refused before the handler could see it, for its size, say. Gives headers for the answer; what it throws is
   * the answer instead.
   */
  onBodyRefused?: (context: Context<PrincipalOf[A]>, error: ServiceError) => Promise<OutgoingHttpHeaders>;
  success: SuccessSpec<S>;
  docs?: DocsSpec;
  /** The errors that the handler itself may throw; those of authentication, limits and bodies are implied. */
  errors: readonly ErrorCode[];
  handler: (
    context: Context<PrincipalOf[A], OutputOf<P, PathParams<Path>>, OutputOf<Q, undefined>, BodyOf<B>>,
  ) => Promise<Result<S>> | Result<S>;
};

/** An endpoint with its types forgotten, as the kernel keeps it. */
export type AnyEndpoint = {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly aliases: readonly Alias[];
  readonly summary: string;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly auth: Auth;
  readonly permission: Permission | undefined;
  readonly parameters: readonly ParameterPermission[];
  readonly environment: "own" | undefined;
  readonly isAudited: boolean;
  readonly auditTarget: ((context: Context) => string) | undefined;
  readonly limit: RateLimitRule | "none";
  readonly takesTurns: boolean;
  readonly refusesForeignOrigins: boolean;
  readonly dialect: Dialect;
  readonly params: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
  readonly body: BodySpec | undefined;
  readonly onBodyRefused: ((context: Context, error: ServiceError) => Promise<OutgoingHttpHeaders>) | undefined;
  readonly success: SuccessSpec;
  readonly docs: DocsSpec;
  readonly errors: readonly ErrorCode[];
  readonly handler: (context: Context) => unknown;
};

/** One operation of the API as one value: its route, guards, validation, handler and documentation. */
export function endpoint<
  const Path extends string,
  A extends Auth,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends BodySpec | undefined = undefined,
  S extends z.ZodType | undefined = undefined,
>(spec: EndpointSpec<Path, A, P, Q, B, S>): AnyEndpoint {
  return {
    ...spec,
    aliases: spec.aliases ?? [],
    description: spec.description,
    permission: spec.permission,
    parameters: spec.parameters ?? [],
    environment: spec.environment,
    isAudited: spec.isAudited ?? isManaging(spec),
    auditTarget: forgetTargetTypes(spec.auditTarget),
    limit: spec.limit ?? "none",
    takesTurns: spec.takesTurns ?? false,
    refusesForeignOrigins: spec.refusesForeignOrigins ?? false,
    dialect: spec.dialect ?? "default",
    params: spec.params,
    query: spec.query,
    body: spec.body,
    onBodyRefused: forgetRefusalTypes(spec.onBodyRefused),
    success: spec.success,
    docs: spec.docs ?? {},
    handler: forgetHandlerTypes(spec.handler),
  };
}

function isManaging({ method, permission }: { method: Method; permission?: Permission }): boolean {
  return method !== "GET" && permission !== undefined && auditedPermissions.has(permission);
}

/** Safe because the kernel fills every context from the schemas of the endpoint that the handler was declared with. */
function forgetHandlerTypes(handler: unknown): AnyEndpoint["handler"] {
  return handler as AnyEndpoint["handler"];
}

/** Safe for the same reason. */
function forgetTargetTypes(target: unknown): AnyEndpoint["auditTarget"] {
  return target as AnyEndpoint["auditTarget"];
}

/** Safe for the same reason. */
function forgetRefusalTypes(told: unknown): AnyEndpoint["onBodyRefused"] {
  return told as AnyEndpoint["onBodyRefused"];
}
