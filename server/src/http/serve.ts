import { cleanDeep, exceedsShape, parseKeepingDigits } from "../lib/json.ts";
import { badBody, ServiceError } from "../domain/errors.ts";
import { refusedToBlocked } from "../domain/permissions.ts";
import type { Principal } from "../domain/principal.ts";
import { GateRefusal } from "../lib/fair-gate.ts";
import { httpLimits } from "./limits.ts";
import { auditedAction } from "./audit.ts";
import { authenticate, type Auth } from "./authenticate.ts";
import { authenticateBrowser, sessionIdsIn } from "./browser-session.ts";
import { decodeContent } from "./content-coding.ts";
import type { BodyReservation } from "./body-memory.ts";
import { preflightReply, refuseForeignOrigin } from "./cors.ts";
import type { RequestContext } from "./context.ts";
import type { AnyEndpoint, BodySpec, Context } from "./endpoint.ts";
import { errorReply, type Dialect } from "./error-reply.ts";
import type { Kernel } from "./kernel.ts";
import { busy, ClientDisconnected } from "./read-body.ts";
import { jsonPayload, Reply, send } from "./reply.ts";
import { refuseUnknown, validate, validateQuery } from "./validate.ts";

/** The handler behind one method and path. */
export type Route = {
  /** The canonical path pattern, used as label in metrics and logs. */
  readonly pattern: string;
  readonly dialect: Dialect;
  /**
   * Handles a request: guards, validation, handler. Thrown values become errors in the route's dialect. Undefined if the
   * handler writes the response itself.
   */
  readonly answer: (
    kernel: Kernel,
    context: RequestContext,
    raw: { params: unknown; query: unknown },
  ) => Promise<Reply | undefined>;
};

export function routeOf(endpoint: AnyEndpoint, path: string): Route {
  return {
    pattern: endpoint.path,
    dialect: endpoint.dialect,
    answer: (kernel, context, raw) => answer(kernel, endpoint, path, context, raw),
  };
}

/** Handles one request completely: response, error, log line and metrics. Never rejects. */
export async function serve(
  kernel: Kernel,
  route: Route,
  context: RequestContext,
  raw: { params: unknown; query: unknown },
): Promise<void> {
  kernel.inFlight += 1;
  context.response.once("close", () => finish(kernel, route, context));
  try {
    const preflight = kernel.corsOrigins && preflightReply(kernel.corsOrigins, context.incoming);
    const reply = preflight ?? (await route.answer(kernel, context, raw));
    if (reply !== undefined) await send(context, reply, kernel.closing);
  } catch (error) {
    try {
      await fail(kernel, route, context, error);
    } catch (fault) {
      kernel.logger.error({ err: fault, request_id: context.requestId, route: route.pattern }, "answering failed");
      context.response.destroy();
    }
  } finally {
    // Not when the client disconnects: the handler may still use the body.
    context.bodyReservation?.release();
  }
}

/** The fixed order of steps: authentication, admission, validation. The body is read only for admitted requests. */
async function answer(
  kernel: Kernel,
  endpoint: AnyEndpoint,
  path: string,
  context: RequestContext,
  raw: { params: unknown; query: unknown },
): Promise<Reply | undefined> {
  const { auth, success } = endpoint;
  if (endpoint.refusesForeignOrigins) refuseForeignOrigin(kernel, context.headers.origin);
  if (auth !== "none") {
    context.principal = await principalOf(kernel, endpoint, auth, context);
  }
  const admitted = admit(kernel, endpoint, path, context);
  if (admitted !== undefined) await admitted;
  context.params = endpoint.params === undefined ? raw.params : checkParams(endpoint.params, raw.params);
  if (endpoint.query !== undefined) context.query = validateQuery(endpoint.query, raw.query);
  if (endpoint.body !== undefined) context.body = await bodyOf(kernel, endpoint, endpoint.body, context);

  const result = await run(kernel, endpoint, context);
  if (context.hijacked) return undefined;
  return result instanceof Reply ? result : new Reply(success.status, jsonPayload(result));
}

/** A browser's session is used only if the request has no other credential. */
function principalOf(
  { authenticator }: Kernel,
  endpoint: AnyEndpoint,
  auth: Exclude<Auth, "none">,
  context: RequestContext,
): ReturnType<typeof authenticate> {
  const { permission } = endpoint;
  const authorization = credentialOf(endpoint, context);
  const ids = authorization === undefined && context.headers.cookie !== undefined ? sessionIdsIn(context) : [];
  if (ids.length === 0) return authenticate(authenticator, auth, permission, authorization);
  const { method } = context.incoming;
  return authenticateBrowser(authenticator, { auth, permission }, { method, request: context, ids });
}

const gatewayDialects: ReadonlySet<Dialect> = new Set(["openai", "anthropic"]);

/** Clients of the gateway may send their key in `x-api-key`, as Anthropic's SDKs do. */
function credentialOf({ dialect }: AnyEndpoint, { headers }: RequestContext): string | undefined {
  const { authorization, "x-api-key": key } = headers;
  if (authorization !== undefined || !gatewayDialects.has(dialect) || typeof key !== "string") return authorization;
  return `Bearer ${key}`;
}

/** The caller of an operation, authenticated or not. */
export type Caller = Context & { readonly principal: Principal | undefined };

/**
 * Admits a caller. Throws `organization_blocked` or `rate_limited`. Undefined if the route has no limit, as most have
 * none: awaiting a promise would cost a microtask.
 */
export function admit(kernel: Kernel, endpoint: AnyEndpoint, path: string, caller: Caller): Promise<void> | undefined {
  const { permission, limit } = endpoint;
  if (permission !== undefined && refusedToBlocked.has(permission)) refuseBlocked(kernel, caller.principal);
  return limit === "none" ? undefined : countAgainstLimit(kernel, limit, path, caller);
}

async function countAgainstLimit(
  kernel: Kernel,
  limit: Exclude<AnyEndpoint["limit"], "none">,
  path: string,
  caller: Caller,
): Promise<void> {
  const retryAfterS = await kernel.rateLimiter.consume(limit, { principal: caller.principal, ip: caller.ip, path });
  if (retryAfterS === undefined) return;
  kernel.metrics.limited.inc({ rule: limit });
  throw new ServiceError("rate_limited", `Too many requests. Try again in ${retryAfterS} s.`, { retryAfterS });
}

/** A blocked organization can add nothing, neither logs nor calls; it may still read and delete. */
function refuseBlocked(kernel: Kernel, principal: Principal | undefined): void {
  if (principal === undefined || !kernel.isBlocked(principal.organization_id)) return;
  throw new ServiceError("organization_blocked", "This organization is blocked. Please contact the operator.");
}

/** Runs the handler of a validated request, in the fair queue if it takes turns, and writes its audit entry. */
export async function run(kernel: Kernel, endpoint: AnyEndpoint, context: Caller): Promise<unknown> {
  const result = endpoint.waitsInQueue
    ? await inTurn(kernel, context, async () => endpoint.handler(context))
    : await endpoint.handler(context);
  if (endpoint.isAudited && context.principal !== undefined) {
    await kernel.audit(auditedAction(endpoint, context, context.principal, result));
  }
  return result;
}

/** A burst of reads waits here; otherwise all of them would be in memory together, or fail. */
async function inTurn(kernel: Kernel, context: Caller, read: () => Promise<unknown>): Promise<unknown> {
  const party = context.principal?.organization_id ?? "";
  try {
    const turn = kernel.reading.run(party, context.signal, read);
    kernel.metrics.readsWaiting.set(kernel.reading.waiting);
    return await turn;
  } catch (error) {
    if (!(error instanceof GateRefusal)) throw error;
    kernel.metrics.readRefusals.inc({ reason: error.reason });
    const detail = "The server has too many reads in progress. Please try again.";
    throw new ServiceError("unavailable", detail, { retryAfterS: 2, cause: error });
  } finally {
    kernel.metrics.readsWaiting.set(kernel.reading.waiting);
  }
}

export function checkParams(schema: NonNullable<AnyEndpoint["params"]>, params: unknown): unknown {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw new ServiceError("not_found", "Not found.");
}

type JsonBody = Extract<AnyEndpoint["body"], { kind: "json" }>;

export function checkBody({ schema, shown, invalidBody }: JsonBody, body: unknown): unknown {
  if (shown !== undefined) refuseUnknown(body, [schema, shown], invalidBody);
  return validate(schema, body, invalidBody);
}

async function bodyOf(
  kernel: Kernel,
  endpoint: AnyEndpoint,
  spec: BodySpec,
  context: RequestContext,
): Promise<unknown> {
  const maxBytes = spec.kind === "raw" ? spec.maxBytes : httpLimits.controlBodyBytes;
  const bytes =
    readBuffered(kernel, endpoint.path, context, maxBytes) ??
    (await readBounded(kernel, endpoint.path, context, maxBytes, spec).catch(async (error: unknown) => {
      if (error instanceof ServiceError) await reportRefused(endpoint, context, error);
      throw error;
    }));
  if (spec.kind === "raw") return { bytes, contentType: context.contentType };
  return checkBody(spec, parseJson(bytes, context.contentType));
}

async function reportRefused(endpoint: AnyEndpoint, context: RequestContext, error: ServiceError): Promise<void> {
  context.refusalHeaders = await endpoint.onBodyRefused?.(context, error);
}

/**
 * Returns a complete body that needs no decoding and is within bounds: the usual case, without awaiting anything.
 * Undefined otherwise.
 */
function readBuffered(kernel: Kernel, pattern: string, context: RequestContext, maxBytes: number): Buffer | undefined {
  const { wholeBody } = context.incoming;
  if (wholeBody === undefined || context.headers["content-encoding"] !== undefined) return undefined;
  if (wholeBody.length > maxBytes || !reservationOf(kernel, context).take(wholeBody.length)) return undefined;
  kernel.metrics.bodyBytes.inc({ route: pattern }, wholeBody.length);
  return wholeBody;
}

function reservationOf(kernel: Kernel, context: RequestContext): BodyReservation {
  context.bodyReservation ??= kernel.bodyMemory.reserve(context.principal?.organization_id ?? "");
  return context.bodyReservation;
}

async function readBounded(
  kernel: Kernel,
  pattern: string,
  context: RequestContext,
  maxBytes: number,
  spec: BodySpec,
): Promise<Buffer> {
  const reservation = reservationOf(kernel, context);
  const raw = spec.kind === "raw" ? spec : undefined;
  try {
    const isPlain = context.headers["content-encoding"] === undefined;
    const sent = await context.incoming.readBody(maxBytes, reservation, isPlain ? raw?.watch?.(context) : undefined);
    kernel.metrics.bodyBytes.inc({ route: pattern }, sent.length);
    const encoding = context.headers["content-encoding"];
    if (encoding === undefined) return sent;
    // The decoded size is only known afterwards: few are decoded at a time, so that many zip bombs use no more memory
    // than a few.
    return await kernel.unpacking.run(context.principal?.organization_id ?? "", context.signal, async () => {
      const bytes = await decodeContent(sent, encoding, maxBytes);
      if (bytes !== sent && !reservation.take(bytes.length)) throw busy();
      return bytes;
    });
  } catch (cause) {
    const error = cause instanceof GateRefusal ? busy() : cause;
    // Released immediately, not with the response: otherwise bodies that arrive together would all be refused, each for
    // the memory of the others.
    reservation.release();
    if (error instanceof ServiceError && (error.code === "payload_too_large" || error.code === "unavailable")) {
      kernel.metrics.bodyRefusals.inc({ code: error.code });
      if (error.code === "payload_too_large" && raw?.tooLarge !== undefined)
        throw new ServiceError(error.code, raw.tooLarge);
    }
    throw error;
  }
}

// `curl -d` labels every body as a form by default; no endpoint here accepts forms.
const jsonTypePattern =
  /^(?:|application\/json|text\/(?:json|plain)|application\/[\w.-]+\+json|application\/x-www-form-urlencoded)$/;

function parseJson(bytes: Buffer, contentType: string): unknown {
  if (bytes.length === 0) return {};
  if (!jsonTypePattern.test(contentType)) {
    throw new ServiceError("unsupported_media_type", "The body must be JSON, with Content-Type: application/json.");
  }
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = bytes.toString("utf8", hasByteOrderMark ? 3 : 0);
  let value: unknown;
  try {
    value = parseKeepingDigits(text);
  } catch (error) {
    throw badBody("is not valid JSON", error);
  }
  if (exceedsShape(value, httpLimits.controlBodyDepth, httpLimits.controlBodyNodes) !== undefined) {
    const bound = `nests deeper than ${httpLimits.controlBodyDepth} levels or holds more than ${httpLimits.controlBodyNodes} values`;
    throw badBody(bound);
  }
  // No store keeps a lone surrogate: compared and returned values must equal the stored ones.
  return halfPair.test(text) ? cleanDeep(value, (each) => each.toWellFormed()) : value;
}

const halfPair = /\\ud[89a-f]/i;

async function fail(kernel: Kernel, route: Route, context: RequestContext, error: unknown): Promise<void> {
  if (context.isDisconnected || error instanceof ClientDisconnected) return;
  if (!(error instanceof ServiceError) || error.code === "internal") {
    kernel.logger.error({ err: error, request_id: context.requestId, route: route.pattern }, "request failed");
  }
  if (context.response.headersSent) {
    // Part of the response was sent; closing the connection is the only way to signal that it is incomplete.
    context.response.destroy();
    return;
  }
  const reply = errorReply(error, {
    dialect: route.dialect,
    requestId: context.requestId,
    requestContentType: context.contentType,
  });
  for (const name of context.response.getHeaderNames()) context.response.removeHeader(name);
  for (const [name, value] of Object.entries(context.refusalHeaders ?? {})) {
    context.response.setHeader(name, String(value));
  }
  await send(context, reply, kernel.closing);
}

// Probes and scrapes come every few seconds, page files a dozen at a time: only failed ones are logged at info.
const probes: ReadonlySet<string> = new Set(["/livez", "/readyz", "/metrics", "page file"]);

/** Runs once the response was sent or the connection was lost. */
function finish(kernel: Kernel, route: Route, context: RequestContext): void {
  const { response, incoming } = context;
  const isOut = response.writableFinished || context.isAnswered;
  if (!isOut) context.markDisconnected();
  const status = isOut ? response.statusCode : 499;
  const ms = context.elapsedMs();
  const { method } = incoming;
  kernel.inFlight -= 1;
  kernel.hijacked.delete(context);
  kernel.metrics.requests.inc({ route: route.pattern, method, status: String(status) });
  kernel.metrics.durationS.observe({ route: route.pattern }, ms / 1000);
  const level = status >= 400 ? "info" : probes.has(route.pattern) ? "debug" : kernel.requestLevel;
  kernel.requestLogger[level](
    {
      method,
      route: route.pattern,
      status,
      ms: Math.round(ms * 100) / 100,
      request_id: context.requestId,
      organization_id: context.principal?.organization_id,
    },
    "request",
  );
}
