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
import { createPlainLane } from "./plain/plain-lane.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { serve, type Route } from "./serve.ts";
import { answerUnreadable, problemOfHead } from "./unreadable.ts";

export type HttpServerOptions = {
  endpoints: readonly AnyEndpoint[];
  authenticator: Authenticator;
  /** Whether an operator keeps the organization from writing; default: none. */
  isBlocked?: (organizationId: string) => boolean;
  /** Keeps the audit log; default: none is kept. */
  audit?: Audit;
  rateLimiter: RateLimiter;
  logger: Logger;
  metrics?: HttpMetrics;
  /** The address that callers use, when it is not the one in their `Host` header. */
  publicUrl?: string | undefined;
  /** Web pages that may call; default: none. */
  corsOrigins?: CorsOrigins;
  /** Proxies whose `X-Forwarded-For`, `-Host`, `-Proto` and `-Prefix` are believed; default: none. */
  trustProxy?: ProxyTrust | undefined;
  /** The web application, at the paths that no endpoint has; default: it is not built. */
  page?: BuiltPage | undefined;
  /** Milliseconds since the epoch; default: by the machine. */
  now?: () => number;
  /** Bounds other than those in `limits.ts`. */
  bounds?: {
    bodyBytesInFlight?: number;
    slowUploadEveryMs?: number;
    requestReadMs?: number;
    shutdownGraceMs?: number;
    reads?: FairGateBounds;
  };
};

export type HttpServer = {
  /** Starts to listen; port 0 takes any free one. Answers the address, like `http://127.0.0.1:8787`. */
  listen(at: { host: string; port: number }): Promise<string>;
  /** Asks callers to open no further requests on their connections: answers close these. It goes on accepting. */
  drain(): void;
  /** Stops accepting, lets requests in flight finish for a while, then cuts them. May be called twice. */
  close(): Promise<void>;
};

const readBounds: FairGateBounds = {
  maxInFlight: httpLimits.readsInFlight,
  maxWaiting: httpLimits.readsWaiting,
  maxWaitMs: httpLimits.readWaitMs,
  keepsPlaces: true,
};

/** Fastify carries connections and routing; what happens to a request is in `serve.ts`. */
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
    // Its fields are fixed and hold no secret: looking for one in each line would cost more than the line.
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
  kernel.metrics.watchBodyMemory(() => kernel.bodyMemory.heldBytes);
  const sweepEveryMs = bounds.slowUploadEveryMs ?? httpLimits.slowUploadEveryMs;
  const slowUploads = setInterval(() => {
    const ended = kernel.bodyMemory.endSlowUploads((httpLimits.slowUploadBytesPerS * sweepEveryMs) / 1000);
    kernel.metrics.slowUploads.inc(ended);
  }, sweepEveryMs).unref();
  const app = createFastify(kernel, options);
  const lane = createPlainLane(app.server, {
    addresses: kernel.addresses,
    isIdle: () => kernel.inFlight === 0,
    isClosing: () => kernel.closing,
    serve: (route, incoming, response) =>
      void serve(kernel, route, new RequestContext(kernel, incoming, response), empty),
  });
  mount(options.endpoints, (method, url, route) => {
    const handler = handlerOf(kernel, route);
    // Fastify refuses a media type that it cannot read: that is for the operation to say, after authentication.
    app.route({ method, url, handler, errorHandler: (_error, request, reply) => handler(request, reply) });
    if (method === "POST" && !url.includes(":")) lane.add(url, route);
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
      // Node waits for connections that never sent a request, so what has nothing in flight is closed here.
      const sweep = setInterval(() => {
        const lateMs = performance.now() - deadlineMs;
        if (lateMs > 0) for (const context of kernel.hijacked) context.stop();
        const isOver = kernel.inFlight === 0 || lateMs > httpLimits.shutdownCutMs;
        lane.close(isOver);
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
  // Clients of the gateway read the errors of their own API alone.
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
    // Node derives the time for the head from this one, and looks for late requests at the interval.
    http: {
      requestTimeout: requestReadMs,
      connectionsCheckingInterval: Math.min(requestReadMs, 10_000),
      // Node's own answer has no body; see `problemOfHead`.
      requireHostHeader: false,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: httpLimits.pathParamChars },
    frameworkErrors: (_error, request, reply) => badUrl(request, reply),
    clientErrorHandler: answerUnreadable,
  });
  // Bodies are read by the handler's own side of the kernel, after authentication: Fastify must not touch them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setNotFoundHandler(unmatched);
  // Node answers this one without a body as well.
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));
  app.setErrorHandler((_error, request, reply) => unmatched(request, reply));
  return app;
}

const unmatchedRoute = { pattern: "unmatched", dialect: "default" } as const;

function handlerOf(kernel: Kernel, route: Route): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    // The kernel writes the answer itself: it compresses, lingers and streams in ways that Fastify's reply does not.
    reply.hijack();
    const context = new RequestContext(kernel, incomingOf(request, kernel.addresses), reply.raw);
    const problem = problemOfHead(request.raw);
    void serve(kernel, problem === undefined ? route : refusal(problem, route), context, {
      params: request.params,
      query: request.query,
    });
  };
}

/** Refuses what came in the words of the route it came to. */
function refusal(error: ServiceError, { pattern, dialect }: Omit<Route, "answer"> = unmatchedRoute): Route {
  return {
    pattern,
    dialect,
    async answer() {
      throw error;
    },
  };
}
