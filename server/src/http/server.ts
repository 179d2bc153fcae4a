import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { ServiceError } from "../domain/errors.ts";
import { FairGate, type FairGateBounds } from "../lib/fair-gate.ts";
import { httpLimits } from "./limits.ts";
import type { Audit } from "./audit.ts";
import type { Authenticator } from "./authenticate.ts";
import { BodyMemory } from "./body-memory.ts";
import { createClientAddresses, type ProxyTrust } from "./client-address.ts";
import type { CorsOrigins } from "./cors.ts";
import { RequestContext } from "./context.ts";
import type { AnyEndpoint } from "./endpoint.ts";
import type { Kernel } from "./kernel.ts";
import { incomingOf } from "./incoming.ts";
import { createHttpMetrics, type HttpMetrics } from "./metrics.ts";
import { mount } from "./mount.ts";
import type { BuiltPage } from "./page/built-page.ts";
import { pageRoutes } from "./page/page-route.ts";
import { createFastPath } from "./plain/fast-path.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { serve, type Route } from "./serve.ts";
import { answerUnreadable, problemOfHead } from "./unreadable.ts";

export type HttpServerOptions = {
  endpoints: readonly AnyEndpoint[];
  authenticator: Authenticator;
  /** Whether an operator blocked the organization from writing; default: none. */
  isBlocked?: (organizationId: string) => boolean;
  /** Writes the audit log; default: none is kept. */
  audit?: Audit;
  rateLimiter: RateLimiter;
  logger: Logger;
  metrics?: HttpMetrics;
  /** The URL that callers use, if it differs from their `Host` header. */
  publicUrl?: string | undefined;
  /** Web pages that may call; default: none. */
  corsOrigins?: CorsOrigins;
  /** Proxies whose `X-Forwarded-For`, `-Host`, `-Proto` and `-Prefix` are trusted; default: none. */
  trustProxy?: ProxyTrust | undefined;
  /** The web application, served at paths that no endpoint has; default: not built. */
  page?: BuiltPage | undefined;
  /** Milliseconds since the epoch; default: the system clock. */
  now?: () => number;
  /** Overrides of bounds in `limits.ts`. */
  bounds?: {
    bodyBytesInFlight?: number;
    slowUploadEveryMs?: number;
    requestReadMs?: number;
    shutdownGraceMs?: number;
    reads?: FairGateBounds;
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
    unpacking: new FairGate({
      maxInFlight: httpLimits.bodiesUnpackedAtOnce,
      maxWaiting: httpLimits.bodiesUnpackedQueue,
    }),
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
  kernel.metrics.watchInFlight(() => kernel.inFlight);
  kernel.metrics.watchBodyMemory(() => kernel.bodyMemory.reservedBytes);
  const sweepEveryMs = bounds.slowUploadEveryMs ?? httpLimits.slowUploadEveryMs;
  const slowUploads = setInterval(() => {
    const ended = kernel.bodyMemory.endSlowUploads((httpLimits.slowUploadBytesPerS * sweepEveryMs) / 1000);
    kernel.metrics.slowUploads.inc(ended);
  }, sweepEveryMs).unref();
  const app = createFastify(kernel, options);
  const fastPath = createFastPath(app.server, {
    addresses: kernel.addresses,
    isIdle: () => kernel.inFlight === 0,
    isClosing: () => kernel.closing,
    serve: (route, incoming, response) =>
      void serve(kernel, route, new RequestContext(kernel, incoming, response), empty),
  });
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

const empty = { params: {}, query: {} };

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
