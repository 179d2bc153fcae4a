import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { machine, percentile, round } from "./lib/figures.ts";
import { openSpansServer } from "./lib/spans-server.ts";

/**
 * Reads through the API against the same reads in hand-written SQL, on one table in one process, alternating.
 * The hand-written SQL is what one would type for the same response without considering resends: no FINAL; a list is
 * its page and its count. `--data FOLDER` keeps the filled table for the next run. With `--spans-url` both use that
 * server, over HTTP.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 2_000_000);
  const times = Number(options.get("times") ?? 30);
  const reused = options.get("data");
  const folder = reused === undefined ? benchFolder() : { path: reused, remove: () => undefined };
  const spans = await openSpansServer(options.get("spans-url"));
  const table = join(folder.path, "spans");
  if (spans.url !== undefined || !existsSync(table)) await fill(spans.url ?? `chdb:${table}`, rows);

  const server = await startBenchServer(folder.path, spans.environment);
  const probe = await probeRow(server);
  const figures: Record<string, object> = {};
  for (const question of questions(probe)) {
    figures[question.name] = await measure(server, question, times);
    console.log(question.name, JSON.stringify(figures[question.name]));
  }
  await server.stop();
  await spans.stop();
  folder.remove();
  return { machine: machine(), rows, ...figures };
}

async function fill(url: string, rows: number): Promise<void> {
  const child = fork(join(import.meta.dirname, "lib", "fill-table-process.ts"), [url, String(rows)]);
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error("the table could not be filled");
}

type Probe = { unique_id: string; customer_identifier: string; hour: { start: string; end: string } };

async function probeRow(server: BenchServer): Promise<Probe> {
  const { results } = (
    await api(
      server,
      "/api/request-logs/list/?page_size=1&include_fields=customer_identifier&start_time=2020-01-01",
      {},
    )
  ).json as {
    results: Array<{ unique_id: string; customer_identifier: string; timestamp: string }>;
  };
  const [row] = results;
  if (row === undefined) throw new Error("the table is empty");
  const end = new Date(row.timestamp);
  return { ...row, hour: { start: new Date(end.getTime() - 3_600_000).toISOString(), end: end.toISOString() } };
}

type Question = {
  name: string;
  path: string;
  method?: "GET" | "POST";
  body?: object;
  /** Statements that run one after another. */
  sql: string[];
  params?: Record<string, string>;
};

const mine = "organization_id = 'org_bench'";
const light =
  "unique_id, timestamp, environment, model, status_code, latency, cost, total_tokens, customer_identifier, metadata, prompt_messages, completion_message";

/** The page and the count of a list. */
function listSql(where: string): string[] {
  return [
    `SELECT ${light} FROM spans WHERE ${where} ORDER BY timestamp DESC LIMIT 50`,
    `SELECT count() FROM spans WHERE ${where}`,
  ];
}

function questions({ unique_id, customer_identifier, hour }: Probe): Question[] {
  const month = "start_time=2020-01-01";
  const dayAgo = new Date(new Date(hour.end).getTime() - 86_400_000).toISOString();
  const within = (start: string): string =>
    `timestamp >= parseDateTime64BestEffort('${start}', 9, 'UTC') AND timestamp <= parseDateTime64BestEffort('${hour.end}', 9, 'UTC')`;
  return [
    {
      name: "list_newest_50",
      path: `/api/request-logs/list/?${month}`,
      sql: listSql(mine),
    },
    {
      name: "retrieve_by_id",
      method: "GET",
      path: `/api/request-logs/${unique_id}/`,
      sql: [`SELECT * FROM spans WHERE ${mine} AND unique_id = {id:UUID}`],
      params: { id: unique_id },
    },
    {
      name: "list_by_customer",
      path: `/api/request-logs/list/?${month}`,
      body: { filters: { customer_identifier: { operator: "", value: [customer_identifier] } } },
      sql: listSql(`${mine} AND customer_identifier = {customer:String}`),
      params: { customer: customer_identifier },
    },
    {
      name: "list_by_metadata",
      path: `/api/request-logs/list/?${month}`,
      body: { filters: { metadata__tenant: { operator: "", value: ["t77"] } } },
      sql: listSql(`${mine} AND metadata_index['tenant'] = 't77'`),
    },
    {
      name: "summary_of_a_day",
      path: `/api/request-logs/summary/?start_time=${dayAgo}&end_time=${hour.end}`,
      sql: [
        `SELECT count(), sum(cost), sum(total_tokens), sum(prompt_tokens), sum(completion_tokens), avg(latency), avg(tokens_per_second), avg(time_to_first_token) FROM spans WHERE ${mine} AND ${within(dayAgo)}`,
      ],
    },
    {
      name: "groups_by_model",
      path: `/api/request-logs/groups/?group_by=model&${month}`,
      sql: [
        `SELECT model, count() AS n, sum(cost), sum(total_tokens), sum(prompt_tokens), sum(completion_tokens), avg(cost), avg(total_tokens), avg(latency), avg(time_to_first_token), avg(tokens_per_second), countIf(status_code >= 400), countIf(cache_hit), countIf(isNull(cost)), min(timestamp), max(timestamp) FROM spans WHERE ${mine} GROUP BY model ORDER BY n DESC LIMIT 50`,
      ],
    },
    {
      name: "substring_in_one_hour",
      path: `/api/request-logs/list/?start_time=${hour.start}&end_time=${hour.end}`,
      body: { filters: { messages: { operator: "contains", value: ["reservation is"] } } },
      sql: listSql(
        `${mine} AND ${within(hour.start)} AND (position(prompt_messages, 'reservation is') > 0 OR position(completion_message, 'reservation is') > 0)`,
      ),
    },
  ];
}

async function measure(server: BenchServer, question: Question, times: number): Promise<object> {
  const apiMs: number[] = [];
  const sqlMs: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const answer = await api(server, question.path, question.body ?? {}, question.method);
    let sqlTook = 0;
    for (const sql of question.sql) {
      sqlTook += (await server.send({ kind: "sql", sql, ...(question.params && { params: question.params }) })).ms;
    }
    if (i < 3) continue;
    apiMs.push(answer.ms);
    sqlMs.push(sqlTook);
  }
  const apiP50 = percentile(apiMs, 0.5);
  const sqlP50 = percentile(sqlMs, 0.5);
  return { api_ms_p50: round(apiP50, 1), sql_ms_p50: round(sqlP50, 1), ratio: round(apiP50 / sqlP50) };
}

async function api(
  server: BenchServer,
  path: string,
  body: object,
  method = "POST",
): Promise<{ ms: number; json: unknown }> {
  const started = performance.now();
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${benchKey}`, "content-type": "application/json" },
    ...(method === "POST" && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const ms = performance.now() - started;
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return { ms, json: JSON.parse(text) as unknown };
}
