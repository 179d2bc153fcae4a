import { existsSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { apiEndpoints } from "./api/index.ts";
import { getDocs } from "./api/system/get-docs.ts";
import { getLivez } from "./api/system/get-livez.ts";
import { getMetrics } from "./api/system/get-metrics.ts";
import { getOpenapi } from "./api/system/get-openapi.ts";
import { getReadyz, type Readiness } from "./api/system/get-readyz.ts";
import { webhookPayloads } from "./api/webhooks/webhook-payloads.ts";
import { signInLink } from "./auth/describe-first-start.ts";
import { ensureFirstStart, type FirstStart } from "./auth/first-start.ts";
import { createPasswords, type Passwords } from "./auth/passwords.ts";
import { loadSecretKey } from "./auth/secret-key.ts";
import { composeAlerts } from "./compose-alerts.ts";
import { composeCounting } from "./compose-counting.ts";
import { composeCustomers } from "./compose-customers.ts";
import { composeDelivery } from "./compose-delivery.ts";
import { composeEvaluation } from "./compose-evaluation.ts";
import { composeGateway } from "./compose-gateway.ts";
import { composePrices, composeRepricing } from "./compose-prices.ts";
import { composePeople, type People } from "./compose-people.ts";
import { composeIngest } from "./compose-ingest.ts";
import type { Config } from "./config.ts";
import { loadErasedCustomers, type CustomerErasures } from "./customers/erasures.ts";
import { startCustomerErasures } from "./jobs/customer-erasures.ts";
import { createGatewayJudge } from "./evaluation/gateway-judge.ts";
import { createScoreSources } from "./filter/score-sources.ts";
import { createSpanCatalogue } from "./filter/span-fields.ts";
import { canListen } from "./http/can-listen.ts";
import { loadDocsPage } from "./http/docs-page.ts";
import type { AnyEndpoint } from "./http/endpoint.ts";
import { createHttpMetrics } from "./http/metrics.ts";
import { openapiDocument } from "./http/openapi.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { createHttpServer } from "./http/server.ts";
import { organizationOf } from "./ingest/row-lines.ts";
import { LiveTail } from "./ingest/live/live-tail.ts";
import { createReadWatch, type ReadWatch } from "./ingest/read-watch.ts";
import { createLogJoiner, partyOfKey, type LogJoiner, type LogJoinerDeps } from "./ingest/otlp/join-logs.ts";
import type { SpanWriter } from "./ingest/writer.ts";
import { migrateSpans, type SpanMigration } from "./jobs/migrate-spans.ts";
import { sweepUnusedMedia } from "./jobs/media-sweep.ts";
import { enforceRetention } from "./jobs/retention.ts";
import { startTraceDeletions, type TraceDeletionDeps, type TraceDeletions } from "./jobs/trace-deletions.ts";
import { scheduleJob } from "./jobs/schedule.ts";
import { createSpanEditor } from "./ingest/span-editor.ts";
import { limits } from "./limits.ts";
import { createControlStores } from "./storage/control/control-stores.ts";
import { version } from "./version.ts";
import { openControlDatabase, type ControlDatabase } from "./storage/control/open-control-database.ts";
import { closeToOthers, openDataFolder } from "./storage/data-folder.ts";
import { openJournal, type Journal } from "./storage/journal/journal.ts";
import { openLogEvents } from "./storage/journal/log-events.ts";
import { lockNode } from "./storage/journal/node-lock.ts";
import { openSpanStore } from "./storage/spans/drivers/open-span-store.ts";
import type { SpanStore } from "./storage/spans/span-store.ts";
import { createLiveMetrics } from "./telemetry/live-metrics.ts";
import { watchLogEvents } from "./telemetry/log-event-metrics.ts";
import { createQueryMetrics } from "./telemetry/query-metrics.ts";

export type App = {
  url: string;
  /** Signs the administrator in once; of the very first start only. */
  signInLink: string | undefined;
  /** Whether the journal is replayed and the stores answer. */
  readiness(): Promise<Readiness>;
  /** Finishes requests, stores what was accepted, closes everything. The journal keeps what the store does not take. */
  stop(): Promise<void>;
};

export type StartOptions = {
  config: Config;
  logger: Logger;
  /** Told what the very first start made, to be shown once: at once, because what comes next may fail. */
  onFirstStart?: (made: FirstStart) => void;
  /** Hashes at the cost that is right for passwords of people, unless told otherwise. */
  passwords?: Passwords;
  /** Milliseconds since the epoch, by the clock of the machine unless told otherwise. */
  now?: () => number;
};

/** The composition root: stores, then engines, then HTTP. Undoes what it began when a step fails. */
export async function startApp(start: StartOptions): Promise<App> {
  const cleanup: Array<() => Promise<void> | void> = [];
  const stop = async (): Promise<void> => {
    for (const undo of cleanup.splice(0).reverse()) await undo();
  };
  try {
    return { ...(await compose(start, cleanup)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function compose(
  { config, logger, onFirstStart, passwords = createPasswords(), now = Date.now }: StartOptions,
  cleanup: Array<() => Promise<void> | void>,
): Promise<Omit<App, "stop">> {
  // A first start shows keys once, and must not end after that for want of its port.
  await canListen(config);
  openDataFolder(config.dataDir);
  const { refused } = closeToOthers(config.dataDir);
  if (refused.length > 0) logger.warn({ refused: refused.slice(0, 3) }, "other users may read the data folder");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  const { database, spans, reads, journal, migration } = await openStores({ config, logger, registry, cleanup }, now);

  const stores = createControlStores(database);
  const firstStart = await ensureFirstStart(stores, passwords, config, now);
  if (firstStart) onFirstStart?.(firstStart);
  const secretKey = loadSecretKey(config.secretKeyPath, config.secretKey);

  const catalogue = createSpanCatalogue(createScoreSources());
  const judge = createGatewayJudge();
  const erasedCustomers = await loadErasedCustomers(stores.customerErasures);
  // A store that is read on this node alone is written by it alone too.
  const isOnlyNode = reads !== undefined;
  const { store } = migration;
  const engine = { config, stores, spans, store, erasedCustomers, isOnlyNode, registry, logger, cleanup, now };
  const pricing = await composePrices(engine);
  const { prices } = pricing;
  const delivery = await composeDelivery({ ...engine, secretKey });
  const { events, publishScores: publish } = delivery;
  const evaluation = await composeEvaluation({ ...engine, prices, catalogue, judge: judge.ask, publish });
  const redis = connectRedis({ config, logger, cleanup });
  const counter = composeCounting({ ...engine, journal });
  const { customers, budgets, erasures, subscriber } = composeCustomers({ ...engine, counter, redis, events });
  const subscribers = [...delivery.subscribers, ...evaluation.subscribers, subscriber, counter];
  const { traceDeletions: deletions } = stores;
  const ingest = { ...engine, journal, deletions, prices, subscribers, reads };
  const { writer, intake, deletedTraces } = await composeIngest(engine, ingest);
  const gateway = await composeGateway(engine, { ...engine, secretKey, intake, budgets, prices, redis });
  judge.connect(gateway.chat);
  const logs = startLogJoining({ config, logger, registry, cleanup }, { spans, catalogue, intake, journal, now });
  startRetention({ config, logger, cleanup }, { ...stores, spans, now });
  const isBehind = () => !writer.state().isReplayed || writer.state().failing !== undefined;
  composeAlerts({ ...engine, catalogue, evaluators: stores.evaluators, events, isBehind, publicUrl: config.publicUrl });
  const flush = () => writer.flush();
  const deleting = { deletions, deletedTraces, spans, counter, flush, now };
  const traceDeletions = startDeletions(engine, deleting, { erasures, isOnlyNode });

  const readiness = readinessOf({ writer, spans, database, migration });
  const people = await composePeople({ ...engine, secretKey, passwords });
  const live = new LiveTail({ ...engine, metrics: (listeners) => createLiveMetrics(registry, listeners) });
  const endpoints = apiEndpoints({
    intake,
    ...gateway,
    logs,
    spans,
    live,
    traceDeletions,
    customers,
    catalogue,
    spanEditor: createSpanEditor({ spans, now }),
    stores,
    ...people,
    passwords,
    caughtUp: async () => {
      const untilMs = performance.now() + limits.readYourWriteMs;
      const isRecorded = await gateway.recorded(limits.readYourWriteMs);
      return (await writer.caughtUp(Math.max(0, untilMs - performance.now()))) && isRecorded;
    },
    ...pricing,
    repricing: composeRepricing({ ...engine, prices, counter }),
    ...delivery,
    ...evaluation,
    now,
  });
  const parts = { config, redis, logger, registry, ...people, endpoints, readiness, cleanup };
  const url = await serveHttp(parts);
  // First of all: streams would hold up the end of the server.
  cleanup.push(() => live.stop());
  return { url, signInLink: firstStart && signInLink(url, firstStart.sign_in_code), readiness };
}

type OpenStores = {
  database: ControlDatabase;
  spans: SpanStore;
  /** Of a store that is read on this node alone. */
  reads: ReadWatch | undefined;
  journal: Journal;
  migration: SpanMigration;
};

/** Everything that is kept, open and up to date; a remote span store may follow later. */
async function openStores(
  { config, logger, registry, cleanup }: Pick<HttpParts, "config" | "logger" | "registry" | "cleanup">,
  now: () => number,
): Promise<OpenStores> {
  const lock = lockNode(join(config.dataDir, "node.lock"));
  cleanup.push(() => lock.release());
  const database = openControlDatabase(config.control, (error) => logger.error({ err: error }, "control database"));
  cleanup.push(() => database.close());
  const hasSpans = config.spans.kind !== "chdb" || existsSync(config.spans.path);
  const measure = createQueryMetrics(registry);
  const isRemote = config.spans.kind === "clickhouse";
  const reads = isRemote ? undefined : createReadWatch();
  const onQuery: typeof measure = (query) => {
    measure(query);
    reads?.saw(query.name);
  };
  const spans = openSpanStore(config.spans, { onQuery });
  cleanup.push(() => spans.close());
  const journal = openJournal({
    path: config.journalPath,
    maxBytes: config.journalBytes,
    maxEntries: limits.journalEntries,
    partyOf: organizationOf,
    identityMemoryMs: limits.identityMemoryMs,
    isFirst: !hasSpans,
    now,
  });
  cleanup.push(() => journal.close());
  await database.migrate();
  const stopping = new AbortController();
  cleanup.push(() => stopping.abort());
  const migration = await migrateSpans({ spans, isRemote, logger, signal: stopping.signal });
  return { database, spans, reads, journal, migration };
}

/** What is too old goes, organization by organization. */
function startRetention(
  { config, logger, cleanup }: Pick<HttpParts, "config" | "logger" | "cleanup">,
  deps: Omit<Parameters<typeof enforceRetention>[0], "instanceDays"> & Parameters<typeof sweepUnusedMedia>[0],
): void {
  const retention = scheduleJob({ name: "retention", everyMs: limits.retentionEveryMs, logger }, (signal) =>
    enforceRetention({ ...deps, instanceDays: config.retentionDays }, signal),
  );
  cleanup.push(() => retention.stop());
  const mediaSweep = scheduleJob({ name: "media sweep", everyMs: limits.mediaSweepEveryMs, logger }, (signal) =>
    sweepUnusedMedia(deps, signal),
  );
  cleanup.push(() => mediaSweep.stop());
}

/** What people delete, and what other nodes did. */
function startDeletions(
  { logger, cleanup }: Pick<HttpParts, "logger" | "cleanup">,
  deps: TraceDeletionDeps,
  { erasures, isOnlyNode }: { erasures: CustomerErasures; isOnlyNode: boolean },
): TraceDeletions {
  const { traceDeletions, stop } = startTraceDeletions(deps, logger);
  cleanup.push(stop);
  cleanup.push(startCustomerErasures(erasures, { settle: () => traceDeletions.settle(), isOnlyNode, logger }));
  return traceDeletions;
}

/** Log records wait on disk for the spans that they complete. */
function startLogJoining(
  { config, logger, registry, cleanup }: Pick<HttpParts, "config" | "logger" | "registry" | "cleanup">,
  deps: Omit<LogJoinerDeps, "events">,
): LogJoiner {
  const path = join(config.dataDir, "otlp-logs");
  const events = openLogEvents({ path, maxBytes: limits.otlpWaitingBytes, partyOf: partyOfKey, now: deps.now });
  cleanup.push(() => events.close());
  watchLogEvents(registry, events);
  const logs = createLogJoiner({ ...deps, events });
  const joining = scheduleJob({ name: "log join", everyMs: limits.otlpJoinEveryMs, logger }, (signal) =>
    logs.joinWaiting(signal),
  );
  cleanup.push(() => joining.stop());
  return logs;
}

type HttpParts = Pick<People, "authenticator" | "audit" | "isBlocked"> & {
  config: Config;
  /** What nodes share. */
  redis: Redis | undefined;
  logger: Logger;
  registry: Registry;
  endpoints: AnyEndpoint[];
  readiness: () => Promise<Readiness>;
  cleanup: Array<() => Promise<void> | void>;
};

async function serveHttp({
  config,
  redis,
  logger,
  registry,
  authenticator,
  audit,
  isBlocked,
  endpoints,
  readiness,
  cleanup,
}: HttpParts): Promise<string> {
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
  const all: AnyEndpoint[] = [
    ...endpoints,
    getLivez(),
    getReadyz({ readiness }),
    getMetrics({ registry }),
    getDocs({ page: await loadDocsPage() }),
    getOpenapi({ document: () => openapiDocument(all, { title: "Spanway", version }, webhookPayloads) }),
  ];
  const server = createHttpServer({
    endpoints: all,
    authenticator,
    audit,
    isBlocked,
    rateLimiter,
    logger,
    metrics,
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
  });
  cleanup.push(() => server.close());
  return server.listen({ host: config.host, port: config.port });
}

/** Undefined where each node is on its own. */
function connectRedis({
  config,
  logger,
  cleanup,
}: Pick<HttpParts, "config" | "logger" | "cleanup">): Redis | undefined {
  if (config.cache.kind !== "redis") return undefined;
  const redis = new Redis(config.cache.url.reveal(), { maxRetriesPerRequest: 1, enableOfflineQueue: false });
  redis.on("error", (error: Error) => logger.warn({ err: error }, "the shared cache does not answer"));
  cleanup.push(() => redis.disconnect());
  return redis;
}

function readinessOf(deps: {
  writer: SpanWriter;
  spans: Pick<SpanStore, "ping">;
  database: Pick<ControlDatabase, "ping">;
  migration: Pick<SpanMigration, "isDone">;
}): () => Promise<Readiness> {
  const check = async (ask: (signal: AbortSignal) => Promise<void>): Promise<string> => {
    const signal = AbortSignal.timeout(limits.readinessMs);
    const late = new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("does not answer")));
    const answer = ask(signal).then(
      () => "ok",
      () => "does not answer",
    );
    return Promise.race([answer, late]);
  };
  return async () => {
    const { isReplayed, failing } = deps.writer.state();
    const [spans, control] = await Promise.all([
      deps.migration.isDone() ? check((signal) => deps.spans.ping(signal)) : "has no tables yet",
      check(() => deps.database.ping()),
    ]);
    const journal = isReplayed ? "ok" : "replaying";
    const writer = failing === undefined ? "ok" : `failing since ${new Date(failing.sinceMs).toISOString()}`;
    const checks = { spans, control, journal, writer };
    return { ready: Object.values(checks).every((state) => state === "ok"), checks };
  };
}
