import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { sumsReady } from "./lib/sums-ready.ts";

/**
 * Sums, charts and facets through the API against hand-written SQL for the same figures, on one table in one process,
 * alternating: over a month of `--rows` spans, and over ninety days of `--many` (0 leaves them out). The SQL ignores
 * resends and usage that counts once. Sums are built before the reads. `--data FOLDER` keeps the filled tables for the
 * next run.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 2_000_000);
  const many = Number(options.get("many") ?? 10_000_000);
  const times = Number(options.get("times") ?? 15);
  const reused = options.get("data");
  const folder = reused === undefined ? benchFolder() : { path: reused, remove: () => undefined };
  const figures = {
    ...(await measureTable(join(folder.path, `month-${rows}`), { rows, days: 30, times }, monthly)),
    ...(many > 0 &&
      (await measureTable(join(folder.path, `quarter-${many}`), { rows: many, days: 90, times }, quarterly))),
  };
  folder.remove();
  return { machine: machine(), rows, many, ...figures };
}

/** Whole days, so that charts by day have as many buckets as days. */
const endMs = Date.UTC(2026, 8, 1);

async function measureTable(
  path: string,
  { rows, days, times }: { rows: number; days: number; times: number },
  questions: readonly Question[],
): Promise<Record<string, object>> {
  if (!existsSync(path)) {
    const file = join(import.meta.dirname, "lib", "fill-analytics-process.ts");
    const child = fork(file, [join(path, "spans"), ...[rows, days, endMs].map(String)]);
    const [code] = (await once(child, "exit")) as [number];
    if (code !== 0) throw new Error("the table could not be filled");
  }
  const server = await startBenchServer(path);
  const figures: Record<string, object> = {};
  console.log("sums stored after", Math.round(await sumsReady(server)), "s");
  for (const question of questions) {
    figures[question.name] = await measure(server, question, times);
    console.log(question.name, JSON.stringify(figures[question.name]));
  }
  await server.stop();
  return figures;
}

/** `sql`: statements that run one after another. */
type Question = { name: string; path: string; sql: string[] };

const windowOf = (days: number): string =>
  `start_time=${new Date(endMs - days * 86_400_000).toISOString()}&end_time=${new Date(endMs - 1).toISOString()}`;
const within = (days: number): string =>
  `organization_id = 'org_bench' AND timestamp >= fromUnixTimestamp64Milli(${endMs - days * 86_400_000}) AND timestamp < fromUnixTimestamp64Milli(${endMs})`;

const failed = "countIf(status = 'failed' OR status_code >= 400)";
const percentiles = ["latency", "time_to_first_token", "tokens_per_second"]
  .map((column) => `quantilesExactInclusive(0.5, 0.9, 0.95, 0.99)(${column})`)
  .join(", ");
const sums = `sum(cost), sum(total_tokens), sum(prompt_tokens), sum(completion_tokens), avg(latency), avg(tokens_per_second), avg(time_to_first_token), ${failed}, countIf(isNull(cost)), countIf(cache_hit), ${percentiles}`;
const groupSql = (key: string, days: number): string =>
  `SELECT ${key} AS key, count() AS n, ${sums}, min(timestamp), max(timestamp) FROM spans WHERE ${within(days)} GROUP BY key ORDER BY n DESC LIMIT 50`;
const facetFields = "model, status, log_type, customer_identifier, span_name, provider_id, environment";

const summary = (days: number): Question => ({
  name: `summary_of_${days}_days`,
  path: `/api/request-logs/summary/?${windowOf(days)}`,
  sql: [`SELECT count(), ${sums}, uniqExact(customer_identifier) FROM spans WHERE ${within(days)}`],
});

const monthly: Question[] = [
  {
    name: "day_by_5m_by_model",
    path: `/api/request-logs/timeseries/?${windowOf(1)}&interval=5m&group_by=model&metrics=total_cost,p95_latency`,
    sql: [
      `SELECT toStartOfInterval(timestamp, INTERVAL 5 MINUTE) AS bucket, model, sum(cost), quantileExactInclusive(0.95)(latency) FROM spans WHERE ${within(1)} GROUP BY GROUPING SETS ((bucket, model), (model))`,
    ],
  },
  {
    name: "month_by_day_by_customer",
    path: `/api/request-logs/timeseries/?${windowOf(30)}&interval=1d&group_by=customer_identifier&metrics=total_cost,number_of_requests&top=10`,
    sql: [
      `WITH top AS (SELECT customer_identifier FROM spans WHERE ${within(30)} GROUP BY customer_identifier ORDER BY sum(cost) DESC LIMIT 10)
      SELECT toStartOfDay(timestamp) AS bucket, if(customer_identifier IN top, customer_identifier, 'other') AS customer, sum(cost), count() FROM spans WHERE ${within(30)} GROUP BY GROUPING SETS ((bucket, customer), (customer))`,
    ],
  },
  {
    name: "facets_of_a_day",
    path: `/api/request-logs/facets/?${windowOf(1)}`,
    sql: [
      ...facetFields
        .split(", ")
        .map(
          (field) =>
            `SELECT ${field}, count() AS n FROM spans WHERE ${within(1)} GROUP BY ${field} ORDER BY n DESC LIMIT 10`,
        ),
      `SELECT arrayJoin(mapKeys(metadata_index)) AS key, count() AS n FROM spans WHERE ${within(1)} GROUP BY key ORDER BY n DESC LIMIT 10`,
    ],
  },
  summary(1),
  summary(30),
  {
    name: "groups_by_model",
    path: `/api/request-logs/groups/?${windowOf(30)}&group_by=model&sort_by=-number_of_requests`,
    sql: [groupSql("model", 30)],
  },
  {
    name: "groups_by_customer",
    path: `/api/request-logs/groups/?${windowOf(30)}&group_by=customer_identifier&sort_by=-number_of_requests`,
    sql: [groupSql("customer_identifier", 30), `SELECT uniqExact(customer_identifier) FROM spans WHERE ${within(30)}`],
  },
];

const quarterly: Question[] = [
  {
    name: "quarter_by_day_by_model",
    path: `/api/request-logs/timeseries/?${windowOf(90)}&interval=1d&group_by=model`,
    sql: [
      `SELECT toStartOfDay(timestamp) AS bucket, model, count(), ${failed}, sum(cost), sum(total_tokens) FROM spans WHERE ${within(90)} GROUP BY GROUPING SETS ((bucket, model), (model))`,
    ],
  },
  { ...summary(30), name: "summary_of_30_of_90_days" },
];

/** Wall-clock times, and processor time of the whole process: the latter is stable on a machine with other work. */
async function measure(server: BenchServer, question: Question, times: number): Promise<object> {
  const api: Taken[] = [];
  const sql: Taken[] = [];
  for (let i = -2; i < times; i += 1) {
    const read = await taken(server, () => readApi(server, question.path));
    const measured = await taken(server, async () => {
      for (const statement of question.sql) await server.send({ kind: "sql", sql: statement });
    });
    if (i < 0) continue;
    api.push(read);
    sql.push(measured);
  }
  const p50 = (all: Taken[], of: keyof Taken) =>
    percentile(
      all.map((each) => each[of]),
      0.5,
    );
  return {
    api_ms_p50: round(p50(api, "ms"), 1),
    sql_ms_p50: round(p50(sql, "ms"), 1),
    ratio: round(p50(api, "ms") / p50(sql, "ms")),
    api_processor_ms: round(p50(api, "processorMs"), 1),
    sql_processor_ms: round(p50(sql, "processorMs"), 1),
  };
}

type Taken = { ms: number; processorMs: number };

async function taken(server: BenchServer, work: () => Promise<void>): Promise<Taken> {
  const { processMs: before = 0 } = await server.send({ kind: "cpu" });
  const started = performance.now();
  await work();
  const ms = performance.now() - started;
  const { processMs: after = 0 } = await server.send({ kind: "cpu" });
  return { ms, processorMs: after - before };
}

async function readApi(server: BenchServer, path: string): Promise<void> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${benchKey}`, "accept-encoding": "identity" },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
}
