import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { ErrorCode, ServiceError } from "../domain/errors.ts";
import { auditedPermissions, type Permission } from "../domain/permissions.ts";
import type { Auth, PrincipalOf } from "./authenticate.ts";
import type { Dialect } from "./error-reply.ts";
import type { RateLimitRule } from "./rate-limit.ts";
import type { BodyObserver } from "./read-body.ts";
import type { RawJson, Reply } from "./reply.ts";
import type { ResponseWriter } from "./response-writer.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Another path, or another method on a path, that is served by the same handler. */
type Alias = string | { method: Method; path: string };

/**
 * For the API reference: a body that a server accepts as it is, except for ids that do not exist there. In forms,
 * members that begin with `@` are files.
 */
type Example = Record<string, unknown> | readonly unknown[];

/** A small JSON body, at most `limits.controlBodyBytes`. An absent body reads as `{}`. */
type JsonBody<S extends z.ZodType = z.ZodType> = {
  kind: "json";
  schema: S;
  example?: Example;
  /** The error code for a body that does not match the schema. Default `invalid_request` (400). */
  invalidBody?: "invalid_request" | "validation_failed";
  /**
   * The members that responses about the resource have. A member that neither this nor the schema knows is refused by
   * name, as it is probably a typo; a member that is only shown is ignored, so that a response can be sent back.
   * Without it, members that the schema does not know are ignored.
   */
  shown?: z.ZodObject;
};

/** A body that the handler reads itself, decompressed. `documents` describes it in the API reference only. */
type RawBody = {
  kind: "raw";
  maxBytes: number;
  /** The error message for a body larger than `maxBytes`; by default it states that bound. */
  tooLarge?: string;
  /**
   * Watches the chunks of a body while it arrives, and may refuse it before it is complete. Bodies with a content
   * encoding are not watched.
   */
  watch?: (context: Context) => BodyObserver;
  documents?: z.ZodType;
  example?: Example;
  /** Media types for the API reference. Default `application/json`. */
  mediaTypes?: readonly string[];
};

export type BodySpec = JsonBody | RawBody;

/** `contentType` is the lower-case media type without its parameters, or "" if the client sent none. */
export type RawBodyValue = { bytes: Buffer; contentType: string };

type BodyOf<B> = B extends JsonBody<infer S> ? z.output<S> : B extends RawBody ? RawBodyValue : undefined;
type OutputOf<S, Absent> = S extends z.ZodType ? z.output<S> : Absent;
type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & PathParams<Rest>
  : unknown;

/** Everything that a handler knows of its request. */
export type Context<Principal = unknown, Params = unknown, Query = unknown, Body = unknown> = {
  readonly principal: Principal;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** HEAD is passed to the handler of GET; a body that it writes is discarded. */
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The query string as sent, for parameters that no schema can declare. */
  readonly rawQuery: URLSearchParams;
  /** The same with its `?`, unchanged; "" if there is none. */
  readonly search: string;
  /** The absolute URL of this request as its caller sees it; the base of `next` and `previous` links. */
  readonly url: URL;
  /**
   * The origins of this server's own pages: from the address that the request names (as trusted proxies state it) and
   * from the public URL.
   */
  readonly origins: readonly string[];
  readonly requestId: string;
  /** The caller's address. */
  readonly ip: string;
  /**
   * Aborted when the client disconnects before it has the whole response, and, with a ServiceError as the reason, when
   * the server stops and cannot wait longer.
   */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch at which the request arrived. */
  readonly startedAtMs: number;
  /** Milliseconds since the request arrived, by a monotonic clock. */
  elapsedMs(): number;
  /**
   * Lets the handler write the response itself, for streams: it writes, ends it and observes `signal`. The handler's
   * return value is ignored. If it throws, the connection is closed, or the error is sent if no response was started.
   */
  hijack(): ResponseWriter;
  /**
   * Runs another operation for the same caller: with its permission, limits, fair queue, validation and audit, and
   * counted in the metrics of its route. Resolves to the response that a separate request would get, errors included
   * (in the default dialect).
   */
  perform(endpoint: AnyEndpoint, request: InnerRequest): Promise<Reply>;
};

/** A request for an operation without HTTP. */
export type InnerRequest = {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: unknown;
};

type SuccessSpec<S extends z.ZodType | undefined = z.ZodType | undefined> = {
  status: number;
  /** The JSON body. Absent: no body. */
  schema?: S;
  description?: string;
  /** The media type if the body is not JSON. */
  contentType?: string;
  /** Other media types that the body may have, each with a description. */
  alternatives?: Readonly<Record<string, string>>;
};

/** For the API reference only: headers by name, and notes on errors by status. */
type DocsSpec = {
  headers?: Readonly<Record<"request" | "answer" | "error", Readonly<Record<string, string>>>>;
  errorNotes?: Readonly<Record<number, string>>;
};

type Result<S> = (S extends z.ZodType ? z.input<S> : void) | Reply | RawJson;

/** `parameter` is a name for people. */
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
  /** The canonical path, parameters as `{name}`. Served with and without its trailing slash. */
  path: Path;
  aliases?: readonly Alias[];
  summary: string;
  description?: string;
  tags: readonly string[];
  auth: A;
  permission?: Permission;
  /** Members and query parameters that need an extra permission, because they do what another route does. */
  parameters?: readonly ParameterPermission[];
  /**
   * `own`: it changes data of one environment, and so only data of the key's own (`requireOwnEnvironment`). Absent: it
   * reads, adds to the key's environment, or changes data that belongs to no environment.
   */
  environment?: "own";
  /** Whether a success is written to the audit log. Default: true for changes that need one of `auditedPermissions`. */
  isAudited?: boolean;
  /** The target for the audit log. Default: the last path parameter, else the id of the created resource. */
  auditTarget?: (context: Context<PrincipalOf[A], OutputOf<P, PathParams<Path>>, OutputOf<Q, undefined>>) => string;
  /** Default `none`. */
  limit?: RateLimitRule | "none";
  /**
   * Set for endpoints that read much of the span store: when many run, they wait in a fair queue
   * (`limits.readsInFlight`).
   */
  waitsInQueue?: boolean;
  /**
   * Refuses pages of other origins (`refuseForeignOrigin`), as protocols require of servers that people run on their
   * own machine.
   */
  refusesForeignOrigins?: boolean;
  /** The shape of this endpoint's error bodies. Default `default`. */
  dialect?: Dialect;
  /** Validates path parameters; without it they are plain strings. A mismatch is 404: no such resource. */
  params?: P;
  query?: Q;
  body?: B;
  /**
   * Called when a body is refused before the handler sees it, for example for its size. Returns headers for the
   * response; if it throws, that error becomes the response.
   */
  onBodyRefused?: (context: Context<PrincipalOf[A]>, error: ServiceError) => Promise<OutgoingHttpHeaders>;
  success: SuccessSpec<S>;
  docs?: DocsSpec;
  /**
   * The errors that the handler itself may throw; those of authentication, limits and bodies are added automatically.
   */
  errors: readonly ErrorCode[];
  handler: (
    context: Context<PrincipalOf[A], OutputOf<P, PathParams<Path>>, OutputOf<Q, undefined>, BodyOf<B>>,
  ) => Promise<Result<S>> | Result<S>;
};

/** An endpoint with its types erased, as the kernel stores it. */
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
  readonly waitsInQueue: boolean;
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
    auditTarget: eraseTargetTypes(spec.auditTarget),
    limit: spec.limit ?? "none",
    waitsInQueue: spec.waitsInQueue ?? false,
    refusesForeignOrigins: spec.refusesForeignOrigins ?? false,
    dialect: spec.dialect ?? "default",
    params: spec.params,
    query: spec.query,
    body: spec.body,
    onBodyRefused: eraseRefusalTypes(spec.onBodyRefused),
    success: spec.success,
    docs: spec.docs ?? {},
    handler: eraseHandlerTypes(spec.handler),
  };
}

function isManaging({ method, permission }: { method: Method; permission?: Permission }): boolean {
  return method !== "GET" && permission !== undefined && auditedPermissions.has(permission);
}

/** Safe because the kernel fills every context from the schemas of the endpoint that the handler was declared with. */
function eraseHandlerTypes(handler: unknown): AnyEndpoint["handler"] {
  return handler as AnyEndpoint["handler"];
}

/** Safe for the same reason. */
function eraseTargetTypes(target: unknown): AnyEndpoint["auditTarget"] {
  return target as AnyEndpoint["auditTarget"];
}

/** Safe for the same reason. */
function eraseRefusalTypes(handler: unknown): AnyEndpoint["onBodyRefused"] {
  return handler as AnyEndpoint["onBodyRefused"];
}
