import type { WatchLimits } from "../lib/fair-share.ts";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createByteBox } from "../auth/sealed-box.ts";
import { composeRouting, type Routing } from "./routing.ts";
import type { Config } from "../config/config.ts";
import { createChat } from "../gateway/chat/chat.ts";
import type { Budgets } from "../gateway/call/admit-call.ts";
import { createAnswerCache, type AnswerCache } from "../gateway/cache/answer-cache.ts";
import { createMemoryStore } from "../gateway/cache/memory-store.ts";
import { createRedisStore, type RedisCommands } from "../gateway/cache/redis-store.ts";
import type { CallOperation } from "../gateway/call/operation.ts";
import { createCallRunner, type CallRunner } from "../gateway/call/run-call.ts";
import { createEmbeddings } from "../gateway/embeddings/embeddings.ts";
import { createResponseOwners } from "../gateway/responses/response-owners.ts";
import { createMessages, createTokenCounts } from "../gateway/messages/messages.ts";
import { createResponses } from "../gateway/responses/responses.ts";
import { createStoredResponses, type StoredResponses } from "../gateway/responses/stored-responses.ts";
import { createTranscription, type Transcription } from "../gateway/transcription/transcription.ts";
import { createRecorder, type Recorder } from "../gateway/record/recorder.ts";
import type { SpanRow } from "../domain/span.ts";
import type { AcceptCalls } from "../ingest/accept/recorded-call.ts";
import type { Adopt } from "../ingest/writer/adopt.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { Secret } from "../lib/secret.ts";
import { httpLimits } from "../http/limits.ts";
import { outgoingLimits } from "../outgoing/limits.ts";
import { storageLimits } from "../storage/limits.ts";
import { createAddressGuard } from "../outgoing/address-guard.ts";
import { createPools, type Pools } from "../outgoing/pools.ts";
import { openCallSpool } from "../storage/journal/call-spool.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { createCacheMetrics, createGatewayMetrics, type GatewayMetrics } from "../telemetry/gateway-metrics.ts";

export type Gateway = Pick<Routing, "models" | "providerSettings" | "knownProviders"> & {
  calls: CallRunner;
  chat: CallOperation;
  transcription: Transcription;
  embeddings: CallOperation;
  responses: CallOperation;
  storedResponses: StoredResponses;
  messages: CallOperation;
  tokenCounts: CallOperation;
  /** Connections to other servers, shared with other users. */
  pools: Pools;
  recorder: Pick<Recorder, "caughtUp" | "hasRoom">;
};

export type GatewayParts = {
  config: Config;
  stores: Pick<ControlStores, "providerSettings" | "organizations">;
  control: ControlWatch;
  secretKey: Secret;
  acceptCalls: AcceptCalls;
  adopt: Adopt;
  budgets: Budgets;
  prices: PriceBook;
  /** The cache that nodes share. */
  redis: RedisCommands | undefined;
  logger: Logger;
  now: () => number;
};

type GatewayHost = {
  registry: Registry;
  watchLimits: WatchLimits;
  cleanup: Array<() => Promise<void> | void>;
};

/** Calls to model providers, and their records. */
export async function composeGateway(
  { registry, watchLimits, cleanup }: GatewayHost,
  { config, stores, control, secretKey, acceptCalls, adopt, budgets, prices, redis, logger, now }: GatewayParts,
): Promise<Gateway> {
  const metrics = createGatewayMetrics(registry);
  const guard = createAddressGuard({
    allowed: config.allowPrivateUpstreams,
    connectMs: outgoingLimits.upstreamConnectMs,
  });
  const pools = createPools({ guard, onEviction: () => metrics.poolEvictions.inc() });
  cleanup.push(() => pools.close());
  const recorder = await startRecorder(
    { metrics, watchLimits, cleanup },
    { config, acceptCalls, adopt, budgets, logger, now },
  );
  const { router, ...routing } = await composeRouting({ config, stores, control, secretKey, metrics, logger, now });
  const deps = {
    pools,
    timeouts: {
      firstByteMs: config.upstreamFirstByteMs,
      idleMs: config.upstreamIdleMs,
      totalMs: config.upstreamTotalMs,
    },
    commentMs: config.streamCommentMs,
    router,
    budgets,
    recorder,
    prices,
    metrics,
  };
  const owners = createResponseOwners(now);
  return {
    calls: createCallRunner(deps),
    chat: createChat({ cache: composeCache(registry, { secretKey, redis, now }), now }),
    transcription: createTranscription(deps),
    embeddings: createEmbeddings(),
    responses: createResponses(owners),
    storedResponses: createStoredResponses({ ...deps, owners }),
    messages: createMessages(),
    tokenCounts: createTokenCounts(),
    pools,
    recorder,
    ...routing,
  };
}

/** Sends finished calls to the intake. Starts with the calls that an earlier process left. */
async function startRecorder(
  { metrics, watchLimits, cleanup }: { metrics: GatewayMetrics } & Omit<GatewayHost, "registry">,
  { config, budgets, ...parts }: Pick<GatewayParts, "config" | "acceptCalls" | "adopt" | "budgets" | "logger" | "now">,
): Promise<Recorder> {
  const spool = openCallSpool({
    path: join(config.dataDir, "calls"),
    maxBytes: storageLimits.callSpoolBytes,
    onProblem: ({ reason, error, path }) => parts.logger.error({ err: error, path }, reason),
  });
  cleanup.push(() => spool.close());
  metrics.watchSpool(() => spool.bytes());
  const onRecalled = settleRecalled(budgets, parts.logger);
  const recorder = createRecorder({ ...parts, spool, metrics, onRecalled });
  cleanup.push(() => recorder.stop(httpLimits.shutdownGraceMs));
  const { records, bytes } = recorder.limits();
  watchLimits({ recordsWaiting: records, recordBytesWaiting: bytes });
  await recorder.start();
  return recorder;
}

/** Settles calls of an earlier process, which may not have settled them. */
function settleRecalled(budgets: Budgets, logger: Logger): (row: SpanRow) => void {
  return ({ organization_id, environment, customer_identifier = "", unique_id: callId, cost = null }) => {
    if (customer_identifier === "") return;
    const key = { organization_id, environment, customer_identifier };
    budgets
      .recall({ ...key, callId, costUsd: cost })
      .catch((error: unknown) => logger.warn({ err: error }, "a call of an earlier process could not be settled"));
  };
}

function composeCache(
  registry: Registry,
  { secretKey, redis, now }: Pick<GatewayParts, "secretKey" | "redis" | "now">,
): AnswerCache {
  const metrics = createCacheMetrics(registry);
  if (redis === undefined) {
    const store = createMemoryStore({ now, onEviction: () => metrics.evictions.inc() });
    metrics.watchBytes(() => store.size().bytes);
    return createAnswerCache({ store, secretKey, metrics, now });
  }
  metrics.watchBytes(() => 0);
  const store = createRedisStore({
    redis,
    box: createByteBox(secretKey, "kept answers"),
    onFailure: () => metrics.failures.inc(),
    onSkip: () => metrics.skipped.inc({ reason: "busy" }),
  });
  return createAnswerCache({ store, secretKey, metrics, now });
}
