import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSeries, SpanSeriesQuery, SplitSeriesQuery } from "../span-series.ts";
import type { SpanCondition, StatementParams } from "../span-store.ts";
import { countedSpans, paramsOfParts, readsIdentity } from "./counted-spans.ts";
import { groupKeys, type GroupKeys } from "./group-keys.ts";
import { readOnce } from "./once.ts";
import { readAll } from "./read-series.ts";
import { partOf } from "./selection.ts";
import { identityMetrics, selectMetrics } from "./span-metrics.ts";

/** Selects spans that pass any of the filters. */
export function anyOf(filters: SplitSeriesQuery["filters"]): SpanCondition | undefined {
  const given = filters.filter((filter) => filter !== undefined);
  if (given.length < filters.length) return undefined;
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(" OR "),
    params: paramsOf(filters),
    ...(given.every(({ columns }) => columns !== undefined) && { columns: unionOf(given, "columns") }),
    metadataKeys: given.every(({ metadataKeys }) => metadataKeys !== undefined)
      ? unionOf(given, "metadataKeys")
      : undefined,
  };
}

/**
 * Reads the spans once and repeats each for every filter that it passes. The position of the filter is a group key like
 * the others.
 */
export async function splitSeries(
  database: SpanDatabase,
  query: SplitSeriesQuery & { filter: SpanCondition | undefined } & Pick<SpanSeriesQuery, "edits">,
  signal?: AbortSignal,
): Promise<SpanSeries[][] | undefined> {
  const keys = withPlace(groupKeys(query.groupBy), query.filters);
  const parts = [partOf(query)];
  const params = { ...paramsOfParts(parts), ...keys.params };
  const isByIdentity = keys.isByIdentity || query.metrics.some((name) => identityMetrics.has(name));
  const counts = isByIdentity || query.filters.some(readsIdentity) ? "all" : "usage";
  const series = await readOnce(
    database,
    { parts, counts },
    (once, known) => {
      const rows = countedSpans(parts, once, known);
      const read = {
        query: { ...query, rankBy: "number_of_requests" as const, isInBackground: true },
        rows,
        keys,
        params,
      };
      return readAll(database, { ...read, select: selectMetrics }, signal);
    },
    signal,
  );
  if (series === undefined) return undefined;
  // Without groups there is one series, even without spans.
  const none = query.groupBy.length === 0 ? [{ group: {}, points: new Map(), totals: undefined }] : [];
  const byPlace = Map.groupBy(series, ({ group }) => group[placeName]);
  return query.filters.map((_, index) => byPlace.get(index + 1)?.map(withoutPlace) ?? none);
}

function withoutPlace({ group: { [placeName]: _place, ...group }, ...rest }: SpanSeries): SpanSeries {
  return { ...rest, group };
}

const placeName = "split_place";

function withPlace(keys: GroupKeys, filters: SplitSeriesQuery["filters"]): GroupKeys {
  const places = filters.map((filter, index) => `if(${filter?.sql ?? "1"}, ${index + 1}, 0)`);
  const place = `arrayJoin(arrayFilter(place -> place > 0, [${places.join(", ")}]))`;
  return {
    ...keys,
    select: [`${place} AS ${placeName}`, ...keys.select],
    names: [placeName, ...keys.names],
    textOfNames: `concat(toString(${placeName}), ' ', ${keys.names.length === 0 ? "''" : keys.textOfNames})`,
    params: { ...keys.params, ...paramsOf(filters) },
    valuesOf: (row) => ({ ...keys.valuesOf(row), [placeName]: Number(row[placeName]) }),
  };
}

const paramsOf = (filters: SplitSeriesQuery["filters"]): StatementParams =>
  Object.assign({}, ...filters.map((filter) => filter?.params)) as StatementParams;

function unionOf(filters: readonly SpanCondition[], of: "columns" | "metadataKeys"): ReadonlySet<string> {
  return new Set(filters.flatMap((filter) => [...(filter[of] ?? [])]));
}
