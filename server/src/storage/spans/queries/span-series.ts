import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSeriesQuery, SpanSeriesResult } from "../span-series.ts";
import { countedSpans, paramsOfParts, readsIdentity } from "./counted-spans.ts";
import { groupKeys } from "./group-keys.ts";
import { readOnce } from "./once.ts";
import { readSeries } from "./read-series.ts";
import { partOf } from "./selection.ts";
import { identityMetrics, selectMetrics } from "./span-metrics.ts";
import { findSums } from "./stored-sums.ts";
import { metricsOfSums } from "./sum-columns.ts";

export async function spanSeries(
  database: SpanDatabase,
  query: SpanSeriesQuery,
  signal?: AbortSignal,
): Promise<SpanSeriesResult> {
  const keys = groupKeys(query.groupBy);
  // Sums have no scores: these belong to spans.
  const stored = query.scores.length > 0 ? undefined : await findSums(database, query, signal);
  if (stored !== undefined) {
    return await stored.read(
      (rows, params) =>
        readSeries(
          database,
          { query, rows, keys, params: { ...params, ...keys.params }, select: metricsOfSums, hasFewGroups: true },
          signal,
        ),
      signal,
    );
  }
  const parts = [partOf(query)];
  const params = { ...paramsOfParts(parts), ...keys.params };
  const isByIdentity = keys.isByIdentity || [query.rankBy, ...query.metrics].some((name) => identityMetrics.has(name));
  const counts = isByIdentity || readsIdentity(query.filter) ? "all" : "usage";
  return await readOnce(
    database,
    { parts, counts },
    (once, known) => {
      const rows = countedSpans(parts, once, known);
      return readSeries(database, { query, rows, keys, params, select: selectMetrics, scores: query.scores }, signal);
    },
    signal,
  );
}
