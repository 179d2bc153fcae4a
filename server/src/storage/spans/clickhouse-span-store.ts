import type { SpanDatabase } from "./drivers/span-database.ts";
import { migrateSpans } from "./migrations/migrate.ts";
import { deleteOlderThan } from "./queries/delete-spans.ts";
import { deleteTraces, purgeDeleted } from "./queries/delete-traces.ts";
import { exportSpans } from "./queries/export-spans.ts";
import { exportTraces } from "./queries/export-traces.ts";
import { exportUsage } from "./queries/export-usage.ts";
import { findNewMessages } from "./queries/find-new-messages.ts";
import { groupSpans } from "./queries/group-spans.ts";
import { hydrateSpans } from "./queries/hydrate-spans.ts";
import { countTraceNames, listCountedOf, listTraceNames } from "./queries/list-counted.ts";
import { describeCustomers, listCustomers } from "./queries/list-customers.ts";
import { listSpans } from "./queries/list-spans.ts";
import { listThreads } from "./queries/list-threads.ts";
import { listTraces, matchTraces } from "./queries/list-traces.ts";
import { readMedia, sweepMedia } from "./queries/media.ts";
import { findSpan, retrieveSpan } from "./queries/retrieve-span.ts";
import {
  countTraceSpans,
  listTraceSpans,
  placeTraces,
  readSmallTrace,
  readTraceSpans,
  retrieveTraces,
  weighTrace,
} from "./queries/retrieve-trace.ts";
import { readUsageFacts } from "./queries/read-usage-facts.ts";
import { groupScores, summarizeScores } from "./queries/score-figures.ts";
import { repriceSpans } from "./queries/reprice-spans.ts";
import { listReceived } from "./queries/list-received.ts";
import { listUnpriced } from "./queries/list-unpriced.ts";
import { facetSpans } from "./queries/span-facets.ts";
import { spanSeries } from "./queries/span-series.ts";
import { summarizeSpans } from "./queries/summarize-spans.ts";
import { unnameCustomer } from "./queries/unname-customer.ts";
import type { SpanStore } from "./span-store.ts";

/** The span store over an engine that speaks ClickHouse's SQL. */
export function createSpanStore(database: SpanDatabase): SpanStore {
  return {
    migrate: () => migrateSpans(database),
    insert: (batch, signal) => database.insert(batch, signal),
    listSpans: (query, signal) => listSpans(database, query, signal),
    exportTraces: (query, take, signal) => exportTraces(database, query, take, signal),
    exportUsage: (query, take, signal) => exportUsage(database, query, take, signal),
    exportSpans: (query, take, signal) => exportSpans(database, query, take, signal),
    retrieveSpan: (scope, uniqueId, signal) => retrieveSpan(database, scope, uniqueId, signal),
    listCountedOf: (key, limit, signal) => listCountedOf(database, key, limit, signal),
    listTraceNames: (query, signal) => listTraceNames(database, query, signal),
    countTraceNames: (organizationId) => countTraceNames(database, organizationId),
    readUsageFacts: (query, signal) => readUsageFacts(database, query, signal),
    repriceSpans: (scope, spans, signal) => repriceSpans(database, scope, spans, signal),
    listUnpriced: (query, signal) => listUnpriced(database, query, signal),
    summarizeSpans: (query, signal) => summarizeSpans(database, query, signal),
    spanSeries: (query, signal) => spanSeries(database, query, signal),
    listReceived: (query, signal) => listReceived(database, query, signal),
    facetSpans: (query, signal) => facetSpans(database, query, signal),
    groupSpans: (query, signal) => groupSpans(database, query, signal),
    summarizeScores: (query, signal) => summarizeScores(database, query, signal),
    groupScores: (query, signal) => groupScores(database, query, signal),
    findSpan: (scope, uniqueId, signal) => findSpan(database, scope, uniqueId, signal),
    listTraces: (query, signal) => listTraces(database, query, signal),
    placeTraces: (scope, traceId, signal) => placeTraces(database, scope, traceId, signal),
    weighTrace: (query, signal) => weighTrace(database, query, signal),
    retrieveTraces: (scope, traceId, signal) => retrieveTraces(database, scope, traceId, signal),
    listTraceSpans: (query, signal) => listTraceSpans(database, query, signal),
    readSmallTrace: (query, signal) => readSmallTrace(database, query, signal),
    readTraceSpans: (query, take, signal) => readTraceSpans(database, query, take, signal),
    listThreads: (query, signal) => listThreads(database, query, signal),
    listCustomers: (query, signal) => listCustomers(database, query, signal),
    describeCustomers: (query, signal) => describeCustomers(database, query, signal),
    unnameCustomer: (key, erasedNs, signal) => unnameCustomer(database, key, erasedNs, signal),
    matchTraces: (query, signal) => matchTraces(database, query, signal),
    countTraceSpans: (query, signal) => countTraceSpans(database, query, signal),
    deleteTraces: (deletions, signal) => deleteTraces(database, deletions, signal),
    purgeDeleted: (cutoffNs, signal) => purgeDeleted(database, cutoffNs, signal),
    hydrateSpans: (scope, keys, fields, signal) => hydrateSpans(database, scope, keys, fields, signal),
    findNewMessages: (scope, spans, signal) => findNewMessages(database, scope, spans, signal),
    deleteOlderThan: (organizationId, cutoffNs, signal) => deleteOlderThan(database, organizationId, cutoffNs, signal),
    readMedia: (of, ids, options) => readMedia(database, of, ids, options),
    sweepMedia: (cutoffMs, signal) => sweepMedia(database, cutoffMs, signal),
    ping: (signal) => database.ping(signal),
    close: () => database.close(),
  };
}
