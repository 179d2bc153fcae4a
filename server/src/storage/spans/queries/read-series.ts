import type { EngineSettings, ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { SeriesPoint, SeriesQuery, SpanSeries, SpanSeriesResult } from "../span-series.ts";
import type { StatementParams } from "../span-store.ts";
import { figureAlias } from "./figures.ts";
import type { GroupKeys } from "./group-keys.ts";
import { metricsOf, metricValue } from "./span-metrics.ts";

/** Rows with a time, and how a chart reads them. */
type Charted<Metric extends string> = {
  query: SeriesQuery<Metric>;
  /** The source for FROM; a row is in the bucket of its `timestamp`. */
  rows: string;
  keys: GroupKeys;
  params: StatementParams;
  /** Metrics as aggregates over the rows, under their `figureAlias`. */
  select: (metrics: readonly Metric[]) => string[];
  /** Evaluators whose scores are joined to the rows by `unique_id`. */
  scores?: readonly string[];
  /**
   * Whether there are rarely many more groups than series, and reading all takes little longer than finding the
   * largest.
   */
  hasFewGroups?: boolean;
};

/**
 * Finds the groups with a series of their own first, then reads the points of these and of all others together. So
 * `other` is as exact as they are, including percentiles. Totals are read with the points, from the same rows. If few
 * groups are expected, one statement reads all.
 */
export async function readSeries<Metric extends string>(
  database: SpanDatabase,
  read: Charted<Metric>,
  signal?: AbortSignal,
): Promise<SpanSeriesResult> {
  const { query, hasFewGroups = query.isInBackground === true } = read;
  const isGrouped = query.groupBy.length > 0;
  const few = isGrouped && hasFewGroups ? await readGroups(database, read, 3 * query.top, signal) : undefined;
  if (few !== undefined && few.length <= query.top) return { series: few.map(seriesOf), other: undefined };
  const groups = isGrouped ? (few ?? (await topGroups(database, read, signal))) : [];
  const top = groups.slice(0, query.top);
  const found = await readPoints(database, read, isGrouped ? top.map(({ key }) => key) : undefined, signal);
  const seriesAt = (slot: number): Omit<SpanSeries, "group"> =>
    found.get(slot) ?? { points: new Map(), totals: undefined };
  if (!isGrouped) return { series: [{ group: {}, ...seriesAt(0) }], other: undefined };
  const series = top.map(({ group }, index) => ({ group, ...seriesAt(index + 1) }));
  return { series, other: groups.length > top.length ? seriesAt(0) : undefined };
}

/** Every group with its points, the largest first; undefined if there are more than `top`. */
export async function readAll<Metric extends string>(
  database: SpanDatabase,
  read: Charted<Metric>,
  signal?: AbortSignal,
): Promise<SpanSeries[] | undefined> {
  const groups = await readGroups(database, read, read.query.top, signal);
  return groups === undefined || groups.length > read.query.top ? undefined : groups.map(seriesOf);
}

/** `key`: the text that identifies the group. */
type Group = Pick<SpanSeries, "group"> & { key: string };

const seriesOf = ({ group, points, totals }: Group & Found): SpanSeries => ({ group, points, totals });

/** Reads up to `most` groups, or somewhat more, with all their points; undefined if there are more, or with scores. */
async function readGroups<Metric extends string>(
  database: SpanDatabase,
  { query, keys, rows: source, params, select, scores = [] }: Charted<Metric>,
  most: number,
  signal?: AbortSignal,
): Promise<Array<Group & Found> | undefined> {
  if (scores.length > 0) return undefined;
  const metrics = [...new Set([...query.metrics, query.rankBy])];
  const buckets = bucketsBy(query.starts, keys.names);
  const selected = [...keys.names, `${keys.textOfNames} AS series_key`, ...buckets.selected, ...select(metrics)];
  const spans = `SELECT *, ${keys.select.join(", ")}, ${buckets.sql} AS series_bucket FROM ${source} WHERE ${keys.where}`;
  const limit = most * (query.starts.length + 1) + 1;
  const { rows } = await database.query(
    {
      name: "series_all",
      sql: `SELECT ${selected.join(", ")} FROM (${spans}) ${buckets.groupBy} LIMIT ${limit}`,
      params,
      settings: inBackground(query),
    },
    signal,
  );
  if (rows.length === limit) return undefined;
  const found = new Map<string, Group & Found & { rank: number }>();
  for (const row of rows) {
    const key = String(row["series_key"]);
    const series = found.get(key) ?? { key, group: keys.valuesOf(row), points: new Map(), totals: undefined, rank: 0 };
    found.set(key, series);
    buckets.take(series, row, metricsOf(row, query.metrics));
    if (buckets.isTotal(row)) series.rank = metricsOf(row, [query.rankBy])[query.rankBy] ?? Number.NEGATIVE_INFINITY;
  }
  const byKey = (one: Group, other: Group) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
  return [...found.values()].toSorted((one, other) => other.rank - one.rank || byKey(one, other));
}

/** Nobody waits for a background read, so it leaves the other cores to reads that people wait for. */
const inBackground = ({ isInBackground }: Pick<SeriesQuery<string>, "isInBackground">): EngineSettings =>
  isInBackground === true ? { max_threads: 1 } : {};

type Found = { points: Map<number, SeriesPoint>; totals: SeriesPoint | undefined };

/**
 * Groups rows by some columns and by bucket, and by these columns only for the totals. With one bucket, both are the
 * same.
 */
function bucketsBy(starts: readonly number[], columns: readonly string[]) {
  const isOne = starts.length === 1;
  const keys = columns.join(", ");
  const { sql, placeOf } = placesOf(starts);
  const isTotal = (row: ResultRow): boolean => isOne || Number(row["is_total"]) === 1;
  return {
    sql,
    groupBy: `GROUP BY ${isOne ? keys : `GROUPING SETS ((${keys}, series_bucket), (${keys}))`}`,
    selected: isOne ? [] : ["series_bucket", "grouping(series_bucket) AS is_total"],
    isTotal,
    take(series: Found, row: ResultRow, values: SeriesPoint): void {
      if (isTotal(row)) series.totals = { ...series.totals, ...values };
      if (isTotal(row) && !isOne) return;
      const place = isOne ? 0 : placeOf(row["series_bucket"]);
      series.points.set(place, { ...series.points.get(place), ...values });
    },
  };
}

/**
 * The bucket of a row in SQL, and its index in `starts`. Rows outside of them belong to the first or the last bucket.
 */
function placesOf(starts: readonly number[]): { sql: string; placeOf: (bucket: unknown) => number } {
  // Our own numbers, which need no binding.
  const bounds = starts.map((start) => `${BigInt(start) * 1_000_000_000n}`);
  const at = "toUnixTimestamp64Nano(timestamp)";
  const [first = 0, second = first + 1] = starts;
  const step = second - first;
  // Planning hundreds of bounds takes milliseconds.
  if (starts.every((start, index) => start === first + index * step)) {
    const place = `intDiv(${at} - (${bounds[0]}), ${step}000000000)`;
    return { sql: `greatest(0, least(${starts.length - 1}, ${place}))`, placeOf: Number };
  }
  const places = new Map(bounds.map((start, index) => [start, index]));
  return { sql: `roundDown(${at}, [${bounds.join(", ")}])`, placeOf: (bucket) => places.get(String(bucket)) ?? 0 };
}

/** The largest groups, and one more if there are others. */
async function topGroups<Metric extends string>(
  database: SpanDatabase,
  { query, keys, rows: source, params, select }: Charted<Metric>,
  signal?: AbortSignal,
): Promise<Group[]> {
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
  return rows.map((row) => ({ key: String(row["series_key"]), group: keys.valuesOf(row) }));
}

/** Reads points by slot: the position of a group in `slots`, from 1, and 0 for all others. */
async function readPoints<Metric extends string>(
  database: SpanDatabase,
  { query, keys, rows: source, params, select, scores = [] }: Charted<Metric>,
  slots: readonly string[] | undefined,
  signal?: AbortSignal,
): Promise<Map<number, Found>> {
  const buckets = bucketsBy(query.starts, ["series_slot"]);
  const bound = slots === undefined ? params : { ...params, series_slots: slots };
  const slot =
    slots === undefined || slots.length === 0
      ? "0"
      : `transform(${keys.text}, {series_slots:Array(String)}, [${slots.map((_, index) => index + 1).join(", ")}], 0)`;
  const spans = `(SELECT *, ${slot} AS series_slot, ${buckets.sql} AS series_bucket FROM ${source} WHERE ${keys.where})`;
  const found = new Map<number, Found>();
  const take = (row: ResultRow, values: SeriesPoint): void => {
    const key = Number(row["series_slot"]);
    const series = found.get(key) ?? { points: new Map(), totals: undefined };
    found.set(key, series);
    buckets.take(series, row, values);
  };
  const selected = ["series_slot", ...buckets.selected].join(", ");
  const figures = select(query.metrics);
  const { rows } = await database.query(
    {
      name: "series",
      sql: `SELECT ${[selected, ...figures].join(", ")} FROM ${spans} ${buckets.groupBy}`,
      params: bound,
      settings: inBackground(query),
    },
    signal,
  );
  for (const row of rows) take(row, metricsOf(row, query.metrics));
  for (const evaluator of scores) {
    const given = `SELECT unique_id AS scored_id, value FROM scores FINAL WHERE organization_id = {organization_id:String}
      AND (evaluator_id = {series_evaluator:String} OR evaluator_slug = {series_evaluator:String}) AND value IS NOT NULL`;
    const { rows: scored } = await database.query(
      {
        name: "series_scores",
        sql: `SELECT ${selected}, avg(value) AS average FROM ${spans} AS shown GLOBAL INNER JOIN (${given}) AS given
          ON shown.unique_id = given.scored_id ${buckets.groupBy}`,
        params: { ...bound, series_evaluator: evaluator },
      },
      signal,
    );
    for (const row of scored) take(row, { [`scores__${evaluator}`]: metricValue(row["average"]) });
  }
  return found;
}
