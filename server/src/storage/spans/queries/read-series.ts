import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { SeriesPoint, SeriesQuery, SpanSeries, SpanSeriesResult } from "../span-series.ts";
import type { StatementParams } from "../span-store.ts";
import { figureAlias } from "./figures.ts";
import type { GroupKeys } from "./group-keys.ts";
import { metricsOf, metricValue } from "./span-metrics.ts";

/** Rows with a time, as a chart reads them. */
type Charted<Metric extends string> = {
  query: SeriesQuery<Metric>;
  /** What stands behind FROM; a row is in the bucket of its `timestamp`. */
  rows: string;
  keys: GroupKeys;
  params: StatementParams;
  /** Metrics as aggregates over the rows, under their `figureAlias`. */
  select: (metrics: readonly Metric[]) => string[];
  /** Evaluators whose scores are joined to the rows by `unique_id`. */
  scores?: readonly string[];
};

/**
 * First the groups that have a series of their own, then the points of these and of all others together: so `other` is as exact as
 * they are, percentiles too. Totals are read with the points, from the same rows.
 */
export async function readSeries<Metric extends string>(
  database: SpanDatabase,
  read: Charted<Metric>,
  signal?: AbortSignal,
): Promise<SpanSeriesResult> {
  const { query, keys } = read;
  const isGrouped = query.groupBy.length > 0;
  const groups = isGrouped ? await topGroups(database, read, signal) : [];
  const top = groups.slice(0, query.top);
  const slots = isGrouped ? top.map((row) => String(row["series_key"])) : undefined;
  const found = await readPoints(database, read, slots, signal);
  const seriesAt = (slot: number): Omit<SpanSeries, "group"> =>
    found.get(slot) ?? { points: new Map(), totals: undefined };
  if (!isGrouped) return { series: [{ group: {}, ...seriesAt(0) }], other: undefined };
  const series = top.map((row, index) => ({ group: keys.valuesOf(row), ...seriesAt(index + 1) }));
  return { series, other: groups.length > top.length ? seriesAt(0) : undefined };
}

/** The largest groups, and one more if there are others. */
async function topGroups<Metric extends string>(
  database: SpanDatabase,
  { query, keys, rows: source, params, select }: Charted<Metric>,
  signal?: AbortSignal,
): Promise<ResultRow[]> {
  const { rows } = await database.query(
    {
      name: "series_groups",
      sql: `SELECT ${[...keys.select, ...select([query.rankBy])].join(", ")}, ${keys.textOfNames} AS series_key
        FROM ${source} WHERE ${keys.where} GROUP BY ${keys.names.join(", ")}
        ORDER BY ${figureAlias(query.rankBy)} DESC NULLS LAST, series_key LIMIT ${query.top + 1}`,
      params,
    },
    signal,
  );
  return rows;
}

/** By slot: the place of a group among `slots`, from 1, and 0 for all others. */
async function readPoints<Metric extends string>(
  database: SpanDatabase,
  { query, keys, rows: source, params, select, scores = [] }: Charted<Metric>,
  slots: readonly string[] | undefined,
  signal?: AbortSignal,
): Promise<Map<number, { points: Map<number, SeriesPoint>; totals: SeriesPoint | undefined }>> {
  // Numbers of ours, which need no binding.
  const starts = query.starts.map((start) => `${BigInt(start) * 1_000_000_000n}`);
  const bound = slots === undefined ? params : { ...params, series_slots: slots };
  const slot =
    slots === undefined || slots.length === 0
      ? "0"
      : `transform(${keys.text}, {series_slots:Array(String)}, [${slots.map((_, index) => index + 1).join(", ")}], 0)`;
  const bucket = `roundDown(toUnixTimestamp64Nano(timestamp), [${starts.join(", ")}])`;
  const spans = `(SELECT *, ${slot} AS series_slot, ${bucket} AS series_bucket FROM ${source} WHERE ${keys.where})`;
  const found = new Map<number, { points: Map<number, SeriesPoint>; totals: SeriesPoint | undefined }>();
  const places = new Map(starts.map((start, index) => [start, index]));
  const take = (row: ResultRow, values: SeriesPoint): void => {
    const key = Number(row["series_slot"]);
    const series = found.get(key) ?? { points: new Map(), totals: undefined };
    found.set(key, series);
    if (Number(row["is_total"]) === 1) series.totals = { ...series.totals, ...values };
    else {
      const place = places.get(String(row["series_bucket"])) ?? 0;
      series.points.set(place, { ...series.points.get(place), ...values });
    }
  };
  const sets = "GROUP BY GROUPING SETS ((series_slot, series_bucket), (series_slot))";
  const told = "series_slot, series_bucket, grouping(series_bucket) AS is_total";
  const figures = select(query.metrics);
  const { rows } = await database.query(
    { name: "series", sql: `SELECT ${[told, ...figures].join(", ")} FROM ${spans} ${sets}`, params: bound },
    signal,
  );
  for (const row of rows) {
    take(row, metricsOf(row, query.metrics));
  }
  for (const evaluator of scores) {
    const given = `SELECT unique_id AS scored_id, value FROM scores FINAL WHERE organization_id = {organization_id:String}
      AND (evaluator_id = {series_evaluator:String} OR evaluator_slug = {series_evaluator:String}) AND value IS NOT NULL`;
    const { rows: scored } = await database.query(
      {
        name: "series_scores",
        sql: `SELECT ${told}, avg(value) AS average FROM ${spans} AS shown GLOBAL INNER JOIN (${given}) AS given
          ON shown.unique_id = given.scored_id ${sets}`,
        params: { ...bound, series_evaluator: evaluator },
      },
      signal,
    );
    for (const row of scored) take(row, { [`scores__${evaluator}`]: metricValue(row["average"]) });
  }
  return found;
}
