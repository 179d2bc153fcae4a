import type { SpanDatabase } from "./drivers/span-database.ts";
import { migrateSpans } from "./migrations/migrate.ts";
import { deleteOlderThan } from "./queries/delete-spans.ts";
import { groupSpans } from "./queries/group-spans.ts";
import { listSpans } from "./queries/list-spans.ts";
import { retrieveSpan } from "./queries/retrieve-span.ts";
import { summarizeSpans } from "./queries/summarize-spans.ts";
import type { SpanStore } from "./span-store.ts";

/** The span store over an engine that speaks ClickHouse's SQL. */
export function createSpanStore(database: SpanDatabase): SpanStore {
  return {
    migrate: () => migrateSpans(database),
    insert: (batch, signal) => database.insert(batch, signal),
    listSpans: (query, signal) => listSpans(database, query, signal),
    retrieveSpan: (scope, uniqueId, signal) => retrieveSpan(database, scope, uniqueId, signal),
    summarizeSpans: (query, signal) => summarizeSpans(database, query, signal),
    groupSpans: (query, signal) => groupSpans(database, query, signal),
    deleteOlderThan: (organizationId, cutoffNs, signal) => deleteOlderThan(database, organizationId, cutoffNs, signal),
    ping: (signal) => database.ping(signal),
    close: () => database.close(),
  };
}
