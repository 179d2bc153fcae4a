import { editFields } from "../../domain/span-edit.ts";
import type { Secret } from "../../lib/secret.ts";
import { openEmbeddedDatabase } from "./drivers/embedded-database.ts";
import { openHttpDatabase } from "./drivers/http-database.ts";
import type { SpanDatabase, SpanDatabaseOptions } from "./drivers/span-database.ts";
import { migrateSpans } from "./migrations/migrate.ts";
import { buildSums, listDueSums } from "./queries/build-sums.ts";
import { deleteExpired } from "./queries/delete-expired.ts";
import { deleteTraces, purgeDeleted } from "./queries/delete-traces.ts";
import { deletionProgress } from "./queries/deletion-progress.ts";
import { editSpans } from "./queries/edit-spans.ts";
import { seeEdits } from "./queries/edited-spans.ts";
import { exportSpans } from "./queries/export-spans.ts";
import { exportTraces } from "./queries/export-traces.ts";
import { exportUsage } from "./queries/export-usage.ts";
import { findNewMessages } from "./queries/find-new-messages.ts";
import { groupSpans } from "./queries/group-spans.ts";
import { hydrateSpans } from "./queries/hydrate-spans.ts";
import { countTraceNames, listCountedOf, listTraceNames } from "./queries/list-counted.ts";
import { describeCustomers, listCustomers } from "./queries/list-customers.ts";
import { listDivided } from "./queries/list-divided.ts";
import { countReceived, listReceived } from "./queries/list-received.ts";
import { listSpans } from "./queries/list-spans.ts";
import { listThreads } from "./queries/list-threads.ts";
import { listTraces, matchTraces } from "./queries/list-traces.ts";
import { listUnpriced, repriceSpans } from "./queries/reprice-spans.ts";
import { readMedia, sweepMedia } from "./queries/media.ts";
import { finishSums, planSums, readSumsState, resetSums, acquireSumsLease } from "./queries/plan-sums.ts";
import { readUsageFacts } from "./queries/read-usage-facts.ts";
import { readVersions } from "./queries/read-versions.ts";
import { findSpan, findSpans, retrieveSpan } from "./queries/retrieve-span.ts";
import {
  countTraceSpans,
  listTraceSpans,
  placeTraces,
  readSmallTrace,
  readTraceSpans,
  retrieveTraces,
  weighTrace,
} from "./queries/retrieve-trace.ts";
import { groupScores, summarizeScores } from "./queries/score-figures.ts";
import { byIds, readEdits } from "./queries/span-edits.ts";
import { facetSpans } from "./queries/span-facets.ts";
import { spanSeries } from "./queries/span-series.ts";
import { anyOf, splitSeries } from "./queries/split-series.ts";
import { summarizeSpans } from "./queries/summarize-spans.ts";
import { traceSeries } from "./queries/trace-series.ts";
import { unnameCustomer } from "./queries/unname-customer.ts";
import type { SpanStore } from "./span-store.ts";
import type { SpanSums } from "./span-sums.ts";
import type { UsageReads } from "./usage-facts.ts";

/** The span store over an engine that speaks ClickHouse's SQL. */
export function createSpanStore(database: SpanDatabase): SpanStore {
  const upkeep: SpanDatabase = { ...database, query: (statement, signal) => database.upkeep(statement, signal) };
  return {
    migrate: () => migrateSpans(database),
    insert: (batch, signal) => database.insert(batch, signal),
    listSpans: async (query, signal) =>
      listSpans(
        database,
        await seeEdits(
          database,
          query,
          [query.sort.field, query.sort.metadata === undefined ? "" : `metadata__${query.sort.metadata}`],
          signal,
        ),
        signal,
      ),
    exportTraces: async (query, take, signal) =>
      exportTraces(database, await seeEdits(database, query, query.fields, signal), take, signal),
    exportUsage: async (query, take, signal) =>
      exportUsage(database, await seeEdits(database, query, [], signal), take, signal),
    exportSpans: async (query, take, signal) =>
      exportSpans(database, await seeEdits(database, query, query.fields, signal), take, signal),
    retrieveSpan: (scope, uniqueId, signal) => retrieveSpan(database, scope, uniqueId, signal),
    repriceSpans: (scope, spans, signal) => repriceSpans(database, scope, spans, signal),
    listUnpriced: (query, signal) => listUnpriced(database, query, signal),
    listReceived: async (query, signal) => listReceived(database, await seeEdits(database, query, [], signal), signal),
    countReceived: async (query, signal) =>
      countReceived(database, await seeEdits(database, query, [], signal), signal),
    summarizeSpans: async (query, signal) =>
      summarizeSpans(database, await seeEdits(database, query, [], signal), signal),
    spanSeries: async (query, signal) =>
      spanSeries(database, await seeEdits(database, query, query.groupBy, signal), signal),
    splitSeries: async (query, signal) =>
      splitSeries(
        database,
        await seeEdits(database, { ...query, filter: anyOf(query.filters) }, query.groupBy, signal),
        signal,
      ),
    traceSeries: async (query, signal) =>
      traceSeries(database, await seeEdits(database, query, query.groupBy, signal), signal),
    facetSpans: async (query, signal) =>
      facetSpans(database, await seeEdits(database, query, ["metadata", ...query.fields], signal), signal),
    groupSpans: async (query, signal) =>
      groupSpans(database, await seeEdits(database, query, query.groupBy, signal), signal),
    summarizeScores: async (query, signal) =>
      summarizeScores(database, await seeEdits(database, query, [], signal), signal),
    groupScores: async (query, signal) =>
      groupScores(database, await seeEdits(database, query, query.groupBy, signal), signal),
    editSpans: (organizationId, edits, nowMs) => editSpans(database, organizationId, edits, nowMs),
    readEdits: (scope, ids, signal) => readEdits(database, scope, { ids: byIds(ids), columns: editFields }, signal),
    findSpans: (scope, ids, signal) => findSpans(database, scope, ids, signal),
    findSpan: (scope, uniqueId, signal) => findSpan(database, scope, uniqueId, signal),
    listTraces: async (query, signal) => listTraces(database, await seeEdits(database, query, [], signal), signal),
    placeTraces: (scope, traceId, signal) => placeTraces(database, scope, traceId, signal),
    weighTrace: (query, signal) => weighTrace(database, query, signal),
    retrieveTraces: (scope, traceId, signal) => retrieveTraces(database, scope, traceId, signal),
    listTraceSpans: (query, signal) => listTraceSpans(database, query, signal),
    readSmallTrace: (query, signal) => readSmallTrace(database, query, signal),
    readTraceSpans: (query, take, signal) => readTraceSpans(database, query, take, signal),
    listThreads: async (query, signal) => listThreads(database, await seeEdits(database, query, [], signal), signal),
    listCustomers: async (query, signal) =>
      listCustomers(database, await seeEdits(database, query, [], signal), signal),
    describeCustomers: (query, signal) => describeCustomers(database, query, signal),
    unnameCustomer: (key, erasedNs, signal) => unnameCustomer(database, key, erasedNs, signal),
    matchTraces: async (query, signal) => matchTraces(database, await seeEdits(database, query, [], signal), signal),
    countTraceSpans: (query, signal) => countTraceSpans(database, query, signal),
    deleteTraces: (deletions, signal) => deleteTraces(database, deletions, signal),
    hydrateSpans: (scope, keys, fields, signal) => hydrateSpans(database, scope, keys, fields, signal),
    findNewMessages: (scope, spans, signal) => findNewMessages(database, scope, spans, signal),
    readMedia: (of, ids, options) => readMedia(database, of, ids, options),
    ...createUpkeep(upkeep),
    ...createUsageReads(database, upkeep),
    ...createSums(upkeep),
    ping: (signal) => database.ping(signal),
    close: () => database.close(),
  };
}

/** @param database its reads are upkeep reads */
function createUpkeep(
  database: SpanDatabase,
): Pick<SpanStore, "purgeDeleted" | "deleteExpired" | "deletionProgress" | "sweepMedia"> {
  return {
    purgeDeleted: (cutoffNs, signal) => purgeDeleted(database, cutoffNs, signal),
    deleteExpired: (cutoffs, signal) => deleteExpired(database, cutoffs, signal),
    deletionProgress: (signal) => deletionProgress(database, signal),
    sweepMedia: (cutoffMs, signal) => sweepMedia(database, cutoffMs, signal),
  };
}

/** @param upkeep for the search that reads the ids of all recent spans, which may take long */
function createUsageReads(database: SpanDatabase, upkeep: SpanDatabase): UsageReads {
  return {
    listCountedOf: (key, limit, signal) => listCountedOf(database, key, limit, signal),
    listTraceNames: (query, signal) => listTraceNames(database, query, signal),
    countTraceNames: (organizationId) => countTraceNames(database, organizationId),
    readVersions: (query, signal) => readVersions(database, query, signal),
    listDivided: (query, signal) => listDivided("window" in query ? database : upkeep, query, signal),
    readUsageFacts: (query, signal) => readUsageFacts(database, query, signal),
  };
}

/** @param database its reads are upkeep reads: they must not look like those of people, for which merges go on under load */
function createSums(database: SpanDatabase): SpanSums {
  return {
    planSums: (timing, signal) => planSums(database, timing, signal),
    acquireSumsLease: (node, forMs) => acquireSumsLease(database, node, forMs),
    listDueSums: (pass, day, portion, signal) => listDueSums(database, pass, day, portion, signal),
    buildSums: (pass, organizationId, slots, signal) => buildSums(database, pass, organizationId, slots, signal),
    finishSums: (pass) => finishSums(database, pass),
    resetSums: () => resetSums(database),
    readSumsState: (signal) => readSumsState(database, signal),
  };
}

/** Where spans are stored, read from SPANWAY_SPANS_URL by config.ts. `url` is the origin only. */
export type SpansLocation =
  | { kind: "chdb"; path: string }
  | {
      kind: "clickhouse";
      url: string;
      username: string;
      password: Secret;
      database: string;
      /** Spreads the tables over the cluster with this name. */
      cluster: string | null;
      /** Settings for inserts, by the engine's names. */
      inserts?: Record<string, string>;
    };

/** Opens the store without changing its tables: call `migrate` next. */
export function openSpanStore(location: SpansLocation, options: SpanDatabaseOptions = {}): SpanStore {
  return createSpanStore(openSpanDatabase(location, options));
}

/** Opens the database that the store runs on. */
export function openSpanDatabase(location: SpansLocation, options: SpanDatabaseOptions = {}): SpanDatabase {
  if (location.kind === "chdb") return openEmbeddedDatabase(location.path, options);
  return openHttpDatabase({ ...location, password: location.password.reveal() }, options);
}
