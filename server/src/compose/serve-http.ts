import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { getDocs } from "../api/system/get-docs.ts";
import { getLivez } from "../api/system/get-livez.ts";
import { getMetrics } from "../api/system/get-metrics.ts";
import { getOpenapi } from "../api/system/get-openapi.ts";
import { getReadyz } from "../api/system/get-readyz.ts";
import { webhookPayloads } from "../api/webhooks/webhook-payloads.ts";
import type { Config } from "../config/config.ts";
import { version } from "../domain/version.ts";
import type { AnyEndpoint } from "../http/endpoint.ts";
import { createHttpMetrics } from "../http/metrics.ts";
import { openapiDocument } from "../http/openapi.ts";
import { loadBuiltPage } from "../http/page/built-page.ts";
import { createRateLimiter } from "../http/rate-limit.ts";
import { createHttpServer } from "../http/server.ts";
import type { WatchLimits } from "../lib/fair-share.ts";
import type { People } from "./people.ts";
import type { NodeReadiness } from "./readiness.ts";

export type HttpParts = Pick<People, "authenticator" | "audit" | "isBlocked"> & {
  config: Config;
  /** The cache that nodes share. */
  redis: Redis | undefined;
  logger: Logger;
  registry: Registry;
  watchLimits: WatchLimits;
  endpoints: AnyEndpoint[];
  /** The folder of the built web application. */
  pagePath: string;
  readiness: NodeReadiness;
  now: () => number;
  cleanup: Array<() => Promise<void> | void>;
};

/** Listens, with all endpoints and the web application. */
export async function serveHttp({
  config,
  redis,
  logger,
  registry,
  watchLimits,
  authenticator,
  audit,
  isBlocked,
  endpoints,
  pagePath,
  readiness,
  now,
  cleanup,
}: HttpParts): Promise<{ url: string; drain: () => void }> {
  const metrics = createHttpMetrics(registry);
  const rateLimiter = createRateLimiter({
    perMinute: {
      bulk_create: config.bulkCreatePerMinute,
      bulk_delete: config.bulkDeletePerMinute,
      public_trace: config.publicTracePerMinute,
      api: config.apiPerMinute,
    },
    ...(redis && { redis }),
    onStoreFailure: () => metrics.limitStoreFailures.inc(),
  });
  const page = await loadBuiltPage(pagePath);
  if (page === undefined)
    logger.warn("the web application is not built: run `npm run build:web`; the API works without it");
  const all: AnyEndpoint[] = [
    ...endpoints,
    getLivez(),
    getReadyz({ readiness }),
    getMetrics({ registry }),
    getDocs({ page: page?.get("/docs.html") }),
    getOpenapi({ document: () => openapiDocument(all, { title: "Spanway", version }, webhookPayloads) }),
  ];
  const server = createHttpServer({
    endpoints: all,
    authenticator,
    audit,
    isBlocked,
    rateLimiter,
    logger,
    requestLevel: config.requestLevel,
    metrics,
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    page,
    watchLimits,
    now,
  });
  cleanup.push(() => server.close());
  const url = await server.listen({ host: config.host, port: config.port });
  const drain = (): void => {
    readiness.stopping();
    server.drain();
  };
  return { url, drain };
}
