import type { WatchLimits } from "../lib/fair-share.ts";
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { ServiceError } from "../domain/errors.ts";
import { FairGate, type FairGateBounds } from "../lib/fair-gate.ts";
import type { Audit } from "./audit.ts";
import type { Authenticator } from "./authenticate.ts";
import { BodyMemory } from "./body-memory.ts";
import { createClientAddresses, type ProxyTrust } from "./client-address.ts";
import { RequestContext } from "./context.ts";
import type { CorsOrigins } from "./cors.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import { incomingOf } from "./incoming.ts";
import type { Kernel } from "./kernel.ts";
import { httpLimits } from "./limits.ts";
import { createHttpMetrics, type HttpMetrics } from "./metrics.ts";
import { mount } from "./mount.ts";
import type { BuiltPage } from "./page/built-page.ts";
import { pageRoutes } from "./page/page-route.ts";
import { createFastPath } from "./plain/fast-path.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { serve, type Route } from "./serve.ts";

export type HttpServerOptions = {
  endpoints: readonly AnyEndpoint[];
  authenticator: Authenticator;
  /** Whether an operator blocked the organization from writing; default: none. */
  isBlocked?: (organizationId: string) => boolean;
  /** Writes the audit log; default: none is kept. */
  audit?: Audit;
  rateLimiter: RateLimiter;
  logger: Logger;
  /** The level at which requests that succeed are logged; default: info. */
  requestLevel?: "info" | "debug" | undefined;
  metrics?: HttpMetrics;
  /** The URL that callers use, if it differs from their `Host` header. */
  publicUrl?: string | undefined;
  /** Web pages that may call; default: none. */
  corsOrigins?: CorsOrigins;
  /** Proxies whose `X-Forwarded-For`, `-Host`, `-Proto` and `-Prefix` are trusted; default: none. */
  trustProxy?: ProxyTrust | undefined;
  /** The web application, served at paths that no endpoint has; default: not built. */
  page?: BuiltPage | undefined;
  /** Exposes the limits that organizations share; default: they are not exposed. */
  watchLimits?: WatchLimits;
  /** Milliseconds since the epoch; default: the system clock. */
  now?: () => number;
  /** Overrides of bounds in `limits.ts`. */
  bounds?: {
    bodyBytesInFlight?: number;
    slowUploadEveryMs?: number;
    requestReadMs?: number;
    shutdownGraceMs?: number;
    reads?: FairGateBounds;
    unpacking?: FairGateBounds;
  };
};

export type HttpServer = {
  /** Starts to listen; port 0 takes any free one. Returns the URL, like `http://127.0.0.1:8787`. */
  listen(at: { host: string; port: number }): Promise<string>;
  /** Closes each connection after its next response. The server continues to accept new connections. */
  drain(): void;
  /**
   * Stops accepting, lets requests in flight finish for a grace period, then closes their connections. May be called
   * twice.
   */
  close(): Promise<void>;
};

const readBounds: FairGateBounds = {
  maxInFlight: httpLimits.readsInFlight,
  maxWaiting: httpLimits.readsWaiting,
  maxWaitMs: httpLimits.readWaitMs,
  sharesSlots: true,
};

const unpackingBounds: FairGateBounds = {
  maxInFlight: httpLimits.bodiesUnpackedAtOnce,
  maxWaiting: httpLimits.bodiesUnpackedQueue,
};

/** Fastify handles connections and routing; `serve.ts` processes the requests. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { bounds = {} } = options;
  let listeningUrl = "http://127.0.0.1";
  const kernel: Kernel = {
    authenticator: options.authenticator,
    isBlocked: options.isBlocked ?? (() => false),
    audit: options.audit ?? (async () => undefined),
    rateLimiter: options.rateLimiter,
    metrics: options.metrics ?? createHttpMetrics(new Registry()),
    logger: options.logger,
    // Its fields are fixed and contain no secret: redaction would cost more than writing the line.
    requestLogger: options.logger.child({}, { redact: [] }),
    requestLevel: options.requestLevel ?? "info",
    unpacking: new FairGate(bounds.unpacking ?? unpackingBounds),
    reading: new FairGate(bounds.reads ?? readBounds),
    bodyMemory: new BodyMemory(bounds.bodyBytesInFlight ?? httpLimits.bodyBytesInFlight),
    publicUrl: options.publicUrl,
    corsOrigins: options.corsOrigins,
    addresses: createClientAddresses(options.trustProxy),
    listeningUrl: () => listeningUrl,
    closing: false,
    now: options.now ?? Date.now,
    inFlight: 0,
    hijacked: new Set(),
  };
  options.watchLimits?.({
    bodyBytesInFlight: kernel.bodyMemory.limit,
    bodiesUnpackedAtOnce: kernel.unpacking.places,
    bodiesUnpackedQueue: kernel.unpacking.queue,
    readsInFlight: kernel.reading.places,
    readsWaiting: kernel.reading.queue,
  });
  kernel.metrics.watchInFlight(() => kernel.inFlight);
  kernel.metrics.watchBodyMemory(() => kernel.bodyMemory.reservedBytes);
  const sweepEveryMs = bounds.slowUploadEveryMs ?? httpLimits.slowUploadEveryMs;
  const slowUploads = setInterval(() => {
    const ended = kernel.bodyMemory.endSlowUploads((httpLimits.slowUploadBytesPerS * sweepEveryMs) / 1000);
    kernel.metrics.slowUploads.inc(ended);
  }, sweepEveryMs).unref();
  const app = createFastify(kernel, options);
  const fastPath = createFastPath(app.server, kernel);
  mount(options.endpoints, (method, url, route) => {
    const handler = handlerOf(kernel, route);
    // Fastify refuses media types that it cannot parse, but the operation decides that, after authentication.
    app.route({ method, url, handler, errorHandler: (_error, request, reply) => handler(request, reply) });
    if (method === "POST" && !url.includes(":")) fastPath.add(url, route);
  });

  return {
    async listen(at) {
      listeningUrl = await app.listen(at);
      return listeningUrl;
    },
    drain() {
      kernel.closing = true;
    },
    async close() {
      kernel.closing = true;
      const deadlineMs = performance.now() + (bounds.shutdownGraceMs ?? httpLimits.shutdownGraceMs);
      // Node waits for connections that never sent a request, so idle ones are closed here.
      const sweep = setInterval(() => {
        const lateMs = performance.now() - deadlineMs;
        if (lateMs > 0) for (const context of kernel.hijacked) context.stop();
        const isOver = kernel.inFlight === 0 || lateMs > httpLimits.shutdownAbortMs;
        fastPath.close(isOver);
        if (isOver) app.server.closeAllConnections();
      }, httpLimits.shutdownSweepMs);
      try {
        await app.close();
      } finally {
        clearInterval(slowUploads);
        clearInterval(sweep);
      }
    },
  };
}

function createFastify(kernel: Kernel, { bounds, page, endpoints }: HttpServerOptions): FastifyInstance {
  const nothing = new ServiceError("not_found", "There is nothing at this path. The API reference is at /docs.");
  const elsewhere = handlerOf(kernel, refusal(nothing));
  // Clients of the gateway understand only the errors of their own API.
  const toOpenai = handlerOf(kernel, refusal(nothing, { ...unmatchedRoute, dialect: "openai" }));
  const toAnthropic = handlerOf(kernel, refusal(nothing, { ...unmatchedRoute, dialect: "anthropic" }));
  const pageRoute = pageRoutes(page, endpoints);
  const unmatched: typeof elsewhere = (request, reply) => {
    const route = pageRoute({ method: request.method, url: request.url, accept: request.headers.accept });
    if (route !== undefined) return handlerOf(kernel, route)(request, reply);
    if (!/^\/v1(?:[/?]|$)/.test(request.url)) return elsewhere(request, reply);
    return (request.headers["anthropic-version"] === undefined ? toOpenai : toAnthropic)(request, reply);
  };
  const badUrl = handlerOf(kernel, refusal(new ServiceError("invalid_request", "The URL is not valid.")));
  const requestReadMs = bounds?.requestReadMs ?? httpLimits.requestReadMs;
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: requestReadMs,
    keepAliveTimeout: httpLimits.keepAliveMs,
    // Node derives the timeout of the head from this one, and checks for late requests at the interval.
    http: {
      requestTimeout: requestReadMs,
      connectionsCheckingInterval: Math.min(requestReadMs, 10_000),
      // Node's own response has no body; see `problemOfHead`.
      requireHostHeader: false,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: httpLimits.pathParamChars },
    frameworkErrors: (_error, request, reply) => badUrl(request, reply),
    clientErrorHandler: answerUnreadable,
  });
  // The kernel reads bodies after authentication: Fastify must not touch them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setNotFoundHandler(unmatched);
  // Node's own response to this one has no body either.
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));
  app.setErrorHandler((_error, request, reply) => unmatched(request, reply));
  return app;
}

const unmatchedRoute = { pattern: "unmatched", dialect: "default" } as const;

function handlerOf(kernel: Kernel, route: Route): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    // The kernel writes the response itself: it compresses, lingers and streams in ways that Fastify's reply cannot.
    reply.hijack();
    const context = new RequestContext(kernel, incomingOf(request, kernel.addresses), reply.raw);
    const problem = problemOfHead(request.raw);
    void serve(kernel, problem === undefined ? route : refusal(problem, route), context, {
      params: request.params,
      query: request.query,
    });
  };
}

/** Refuses a request in the dialect of its route. */
function refusal(error: ServiceError, { pattern, dialect }: Omit<Route, "answer"> = unmatchedRoute): Route {
  return {
    pattern,
    dialect,
    async answer() {
      throw error;
    },
  };
}

/** Responses by the error code of Node's parser; every other error means that the bytes are not an HTTP request. */
const answers: Record<string, readonly [status: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time."],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request headers are too large."],
};
const notHttp = ["400 Bad Request", "This is not a valid HTTP request."] as const;

/** Responds to bytes that are not an HTTP request, or to a request whose head or body did not arrive in time. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const [status, detail] = answers[error.code ?? ""] ?? notHttp;
  const body = JSON.stringify({ detail, code: "invalid_request", message: detail });
  socket.write(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\nx-request-id: ${randomUUID()}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

/** Node stores the response that is being written on its socket; a second response in the middle would corrupt it. */
function isAnswering(socket: Socket & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

/** Returns the error of a request that the parser accepted; Node would refuse it too, but without a body. */
function problemOfHead({ httpVersion, headers }: IncomingMessage): ServiceError | undefined {
  if (httpVersion === "1.1" && headers.host === undefined) {
    return new ServiceError("invalid_request", "An HTTP/1.1 request must have a Host header.");
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    return new ServiceError("expectation_failed", "The only supported Expect header is 100-continue.");
  }
  return undefined;
}

/** Rejects with the system's error if the address cannot be listened on. Checked before the rest of the startup. */
export async function canListen(address: { host: string; port: number }): Promise<void> {
  const server = createServer();
  server.listen(address);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
