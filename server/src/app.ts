import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { apiEndpoints } from "./api/index.ts";
import { signInLink } from "./auth/describe-first-start.ts";
import { noteUnusedKeys, ensureFirstStart, type FirstStart } from "./auth/first-start.ts";
import { createPasswords, type Passwords } from "./auth/passwords.ts";
import { loadCheckedSecretKey } from "./auth/secret-check.ts";
import { composeAlerts } from "./compose/alerts.ts";
import { composeCounting } from "./compose/counting.ts";
import { composeCustomers } from "./compose/customers.ts";
import { composeDelivery } from "./compose/delivery.ts";
import { composeEvaluation } from "./compose/evaluation.ts";
import { composeGateway } from "./compose/gateway.ts";
import { composePrices, composeRepricing } from "./compose/prices.ts";
import { composePeople } from "./compose/people.ts";
import { composeReadiness } from "./compose/readiness.ts";
import { composeIngest } from "./compose/ingest.ts";
import { serveHttp, type HttpParts } from "./compose/serve-http.ts";
import { startLogJoining } from "./compose/log-joining.ts";
import { startUpkeep } from "./compose/upkeep.ts";
import type { Config } from "./config/config.ts";
import { loadErasedCustomers, type CustomerErasures } from "./customers/erasures.ts";
import { startCustomerErasures } from "./jobs/customer-erasures.ts";
import { eraseTracesInPayloads } from "./delivery/erase-payloads.ts";
import type { TraceDeletion } from "./domain/trace.ts";
import type { Recorder } from "./gateway/record/recorder.ts";
import { createGatewayJudge } from "./evaluation/gateway-judge.ts";
import { createScoreSources } from "./filter/score-sources.ts";
import { createSpanCatalogue } from "./filter/span-fields.ts";
import { canListen } from "./http/server.ts";
import { organizationOf } from "./ingest/writer/row-lines.ts";
import { LiveTail } from "./ingest/live/live-tail.ts";
import { createReadMonitor, type ReadMonitor } from "./ingest/writer/read-monitor.ts";
import type { SpanWriter } from "./ingest/writer/writer.ts";
import { migrateSpans, type SpanMigration } from "./jobs/migrate-spans.ts";
import type { Leader } from "./jobs/leader.ts";
import { startTraceDeletions, type TraceDeletionDeps, type TraceDeletions } from "./jobs/trace-deletions.ts";
import { startStoredSums } from "./jobs/store-sums.ts";
import { createSpanEditor } from "./ingest/span-editor.ts";
import { undoAll } from "./lib/undo-all.ts";
import { ingestLimits } from "./ingest/limits.ts";
import { storageLimits } from "./storage/limits.ts";
import { createControlStores } from "./storage/control/control-stores.ts";
import { version } from "./domain/version.ts";
import { controlOutage } from "./storage/control/control-outage.ts";
import { watchControl, type ControlWatch } from "./storage/control/control-watch.ts";
import { createStoreClock, type StoreClock } from "./storage/control/store-clock.ts";
import { openControlDatabase, type ControlDatabase } from "./storage/control/open-control-database.ts";
import { closeToOthers, openDataFolder } from "./storage/data-folder.ts";
import { openJournal, type Journal } from "./storage/journal/journal.ts";
import { lockNode } from "./storage/journal/node-lock.ts";
import { openSpanStore } from "./storage/spans/clickhouse-span-store.ts";
import type { SpanStore } from "./storage/spans/span-store.ts";
import { createControlMetrics, watchClock, createQueryMetrics, createSumsMetrics } from "./telemetry/store-metrics.ts";
import { createLimitMetrics } from "./telemetry/limit-metrics.ts";
import { createLiveMetrics } from "./telemetry/live-metrics.ts";
import { watchNode } from "./telemetry/node-metrics.ts";

const pagePath = fileURLToPath(new URL("../../web/dist", import.meta.url));

export type App = {
  url: string;
  /** Signs the administrator in once; set only on the very first start. */
  signInLink: string | undefined;
  /** Reports not ready, and closes connections after their responses; requests are still served. */
  drain(): void;
  /** Resolves once all spans accepted so far are stored and counted. For tests. */
  settled(): Promise<void>;
  /** Finishes requests, stores accepted spans, closes everything. The journal keeps what the store does not take. */
  stop(): Promise<void>;
};

export type StartOptions = {
  config: Config;
  logger: Logger;
  /**
   * Called with the credentials of the very first start, to be shown once: also if a later step fails.
   */
  onFirstStart?: (made: FirstStart) => void;
  /** Default: hashes at the cost for passwords of people. */
  passwords?: Passwords;
  /** Milliseconds since the epoch. Default: the clock of the machine. */
  now?: () => number;
  /** Whether no node has stored spans yet. Defaults to whether the embedded store has no folder. */
  isFirst?: boolean;
};

/** Starts the server. While Postgres is unreachable, or drops a connection, it retries for as long as configured. */
export async function startApp(start: StartOptions): Promise<App> {
  const untilMs = performance.now() + start.config.controlWaitS * 1000;
  for (;;) {
    try {
      return await startOnce(start);
    } catch (error) {
      const reason = start.config.control.kind === "postgres" ? controlOutage(error) : undefined;
      if (reason === undefined || performance.now() > untilMs) throw error;
      start.logger.warn({ reason }, "the control store does not answer; the start begins again in a second");
      await sleep(1_000);
    }
  }
}

/** The composition root: stores, then engines, then HTTP. Undoes the completed steps if one fails. */
async function startOnce(start: StartOptions): Promise<App> {
  const cleanup: Array<() => Promise<void> | void> = [];
  const stop = () => undoAll(cleanup);
  try {
    return { ...(await compose(start, cleanup)), stop };
  } catch (error) {
    await stop().catch((failure: unknown) =>
      start.logger.warn({ err: failure }, "a start could not be undone cleanly"),
    );
    throw error;
  }
}

async function compose(
  { config, logger, onFirstStart, passwords = createPasswords(), now: ownNow = Date.now, isFirst }: StartOptions,
  cleanup: Array<() => Promise<void> | void>,
): Promise<Omit<App, "stop">> {
  // Checked first: a first start shows keys once, and must not fail after that because the port is taken.
  await canListen(config);
  openDataFolder(config.dataDir);
  const { refused } = closeToOthers(config.dataDir);
  if (refused.length > 0) logger.warn({ refused: refused.slice(0, 3) }, "other users may read the data folder");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  const base = { config, logger, registry, watchLimits: createLimitMetrics(registry), cleanup };
  const opened = await openStores(base, ownNow, isFirst);
  const { database, control, spans, reads, journal, migration } = opened;
  const { now } = opened.clock;

  const stores = createControlStores(database);
  const firstStart = await ensureFirstStart(stores, passwords, config, now);
  if (firstStart) onFirstStart?.(firstStart);
  else await noteUnusedKeys(stores.apiKeys, config, logger);
  const secretKey = await loadCheckedSecretKey(config, stores.instance);

  const catalogue = createSpanCatalogue(createScoreSources());
  const judge = createGatewayJudge(now);
  const erasedCustomers = await loadErasedCustomers(stores.customerErasures);
  // A store that only this node reads is also written only by this node.
  const isOnlyNode = reads !== undefined;
  const { store } = migration;
  const engine = { ...base, stores, control, spans, store, erasedCustomers, isOnlyNode, now };
  const pricing = await composePrices(engine);
  const { prices } = pricing;
  const delivery = await composeDelivery({ ...engine, secretKey });
  const { events, publishScores: publish } = delivery;
  const evaluation = await composeEvaluation({ ...engine, prices, catalogue, judge: judge.complete, publish });
  const redis = connectRedis(base);
  const { counter, subscribers: counting } = composeCounting({ ...engine, journal, isReady: () => migration.isDone() });
  const { customers, budgets, erasures, subscriber } = composeCustomers({ ...engine, counter, redis, events });
  const subscribers = [...delivery.subscribers, ...evaluation.subscribers, subscriber, ...counting];
  const { traceDeletions: deletions } = stores;
  const ingest = { ...engine, journal, deletions, prices, subscribers, reads };
  const { writer, settle, intake, acceptCalls, adopt, deletedTraces } = await composeIngest(engine, ingest);
  const gateway = await composeGateway(engine, { ...engine, acceptCalls, adopt, budgets, prices, secretKey, redis });
  judge.connect((call) => gateway.calls.run(gateway.chat, call));
  const caughtUp = catchesUp(gateway.recorder, writer);
  const logs = startLogJoining(engine, { spans, catalogue, intake, journal, now }, adopt);
  const onRound = createSumsMetrics(registry);
  const sums = startStoredSums({ spans, isReady: () => migration.isDone(), isShared: !isOnlyNode, onRound, logger });
  cleanup.push(() => sums.stop());
  const leader = startUpkeep(base, { ...stores, spans, now, clock: opened.clock });
  const isBehind = () => !writer.state().isReplayed || writer.state().failing !== undefined;
  composeAlerts({ ...engine, catalogue, evaluators: stores.evaluators, events, isBehind, publicUrl: config.publicUrl });
  const eraseCopies = (deleted: readonly TraceDeletion[]) => eraseTracesInPayloads(stores.deliveries, deleted);
  const flush = () => caughtUp().then(() => writer.flush());
  const deleting = { deletions, deletedTraces, spans, counter, eraseCopies, flush, now };
  const traceDeletions = startDeletions(engine, deleting, { erasures, isOnlyNode, leader });

  const readiness = composeReadiness({ ...opened, ...gateway, writer });
  watchNode(registry, { version, dataDir: config.dataDir, readiness, connections: opened.database.connections });
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
    caughtUp,
    ...pricing,
    repricing: composeRepricing({ ...engine, prices, counter }),
    ...delivery,
    ...evaluation,
    now,
  });
  const { url, drain } = await serveHttp({ ...base, redis, ...people, endpoints, pagePath, readiness, now });
  // Stopped first: open streams would delay the stop of the server.
  cleanup.push(() => live.stop());
  const settled = settles(caughtUp, () => settle([counter.name, subscriber.name]));
  return { url, signInLink: firstStart && signInLink(url, firstStart.sign_in_code), drain, settled };
}

/** Resolves once all spans accepted so far are stored; false if that takes too long. */
function catchesUp(recorder: Pick<Recorder, "caughtUp">, writer: Pick<SpanWriter, "caughtUp">): () => Promise<boolean> {
  return async () => {
    const untilMs = performance.now() + storageLimits.readYourWriteMs;
    const isRecorded = await recorder.caughtUp(storageLimits.readYourWriteMs);
    return (await writer.caughtUp(Math.max(0, untilMs - performance.now()))) && isRecorded;
  };
}

/** For tests: waits for what was accepted, on a slow machine too. */
function settles(caughtUp: () => Promise<boolean>, settle: () => Promise<void>): () => Promise<void> {
  return async () => {
    for (let triesLeft = 10; triesLeft > 0 && !(await caughtUp()); triesLeft -= 1) await sleep(50);
    await settle();
  };
}

type OpenStores = {
  database: ControlDatabase;
  control: ControlWatch;
  clock: StoreClock;
  spans: SpanStore;
  /** Set if only this node reads the store. */
  reads: ReadMonitor | undefined;
  journal: Journal;
  migration: SpanMigration;
};

/** Opens and migrates all stores; a remote span store may follow later. */
async function openStores(
  {
    config,
    logger,
    registry,
    watchLimits,
    cleanup,
  }: Pick<HttpParts, "config" | "logger" | "registry" | "watchLimits" | "cleanup">,
  ownNow: () => number,
  isFirst = config.spans.kind === "chdb" && !existsSync(config.spans.path),
): Promise<OpenStores> {
  const lock = lockNode(join(config.dataDir, "node.lock"));
  cleanup.push(() => lock.release());
  const database = openControlDatabase(config.control, (error) => logger.error({ err: error }, "control database"));
  cleanup.push(() => database.close());
  const clock = createStoreClock({ readStoreTime: database.readTime, ownNow, logger });
  cleanup.push(() => clock.stop());
  watchClock(registry, clock);
  const measure = createQueryMetrics(registry);
  const isRemote = config.spans.kind === "clickhouse";
  const reads = isRemote ? undefined : createReadMonitor();
  const onQuery: typeof measure = (query) => {
    measure(query);
    reads?.saw(query.name);
  };
  const spans = openSpanStore(config.spans, { onQuery, watchLimits });
  cleanup.push(() => spans.close());
  const journal = openJournal({
    path: config.journalPath,
    maxBytes: config.journalBytes,
    maxEntries: storageLimits.journalEntries,
    partyOf: organizationOf,
    identityMemoryMs: ingestLimits.identityMemoryMs,
    isFirst,
    now: clock.now,
  });
  cleanup.push(() => journal.close());
  watchLimits({ journalBytes: journal.limits.bytes, journalEntries: journal.limits.places });
  await database.migrate();
  await clock.start();
  const ping = () => database.ping();
  const metrics = createControlMetrics(registry);
  const control = watchControl({ ping, staleMs: config.staleS * 1000, metrics, logger });
  cleanup.push(() => control.stop());
  const stopping = new AbortController();
  cleanup.push(() => stopping.abort());
  const migration = await migrateSpans({ spans, isRemote, logger, signal: stopping.signal });
  return { database, control, clock, spans, reads, journal, migration };
}

/** Applies deletions by users and by other nodes. */
function startDeletions(
  { logger, cleanup }: Pick<HttpParts, "logger" | "cleanup">,
  deps: TraceDeletionDeps,
  { erasures, isOnlyNode, leader }: { erasures: CustomerErasures; isOnlyNode: boolean; leader: Leader },
): TraceDeletions {
  const { traceDeletions, stop } = startTraceDeletions(deps, { leader, logger });
  cleanup.push(stop);
  cleanup.push(startCustomerErasures(erasures, { settle: () => traceDeletions.settle(), isOnlyNode, logger }));
  return traceDeletions;
}

/** Undefined if nodes do not share a cache. */
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
