import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchFolder, benchKey, startBenchServer, type BenchServer } from "./lib/bench-server.ts";
import { machine, percentile, round } from "./lib/figures.ts";

/**
 * Traces through the API: the list of one hour that holds 300,000 spans, and traces of 1,000 and of 45,000 spans.
 *
 * The hour has traces of ten spans: an agent, three model calls, six tools. `--wrapped 1` lets every agent restate what
 * its model calls used. `--data FOLDER` keeps the filled table for the next run.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 300_000);
  const times = Number(options.get("times") ?? 30);
  const kept = options.get("data");
  const folder = kept === undefined ? benchFolder() : { path: kept, remove: () => undefined };
  if (!existsSync(join(folder.path, "spans"))) await fill(folder.path, rows, options.get("wrapped") === "1");

  const server = await startBenchServer(folder.path);
  const figures: Record<string, object> = {};
  for (const question of questions) {
    figures[question.name] = await measure(server, question, times);
    console.log(question.name, JSON.stringify(figures[question.name]));
  }
  await server.stop();
  folder.remove();
  return { machine: machine(), rows, ...figures };
}

async function fill(path: string, rows: number, isWrapped: boolean): Promise<void> {
  mkdirSync(path, { recursive: true });
  const args = [join(path, "spans"), String(rows), isWrapped ? "1" : "0"];
  const child = fork(join(import.meta.dirname, "lib", "fill-traces-process.ts"), args);
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error("the table could not be filled");
}

type Question = { name: string; path: string; body?: object; method?: "GET" };

const anHour = "start_time=2026-05-05T05:00:00Z&end_time=2026-05-05T06:00:00Z";
const questions: Question[] = [
  { name: "list_newest_50", path: `/api/traces/list/?${anHour}` },
  { name: "list_by_cost", path: `/api/traces/list/?${anHour}&sort_by=-total_cost` },
  {
    name: "list_of_failed",
    path: `/api/traces/list/?${anHour}`,
    body: { filters: { error_count: { operator: "gt", value: [0] } } },
  },
  {
    name: "list_by_metadata",
    path: `/api/traces/list/?${anHour}`,
    body: { filters: { metadata__tenant: { operator: "", value: ["t7"] } } },
  },
  { name: "threads", path: `/api/log_threads/?${anHour}` },
  { name: "groups_by_trace", path: `/api/request-logs/groups/?group_by=trace&${anHour}` },
  { name: "summary", path: `/api/request-logs/summary/?${anHour}` },
  { name: "retrieve_1000_spans", path: "/api/traces/thousand/", method: "GET" },
  { name: "retrieve_45000_spans_slim", path: "/api/traces/large/?tree=slim", method: "GET" },
];

async function measure(server: BenchServer, { path, body = {}, method }: Question, times: number): Promise<object> {
  const durationsMs: number[] = [];
  const { rssBytes: idleBytes = 0 } = await server.ask({ ask: "memory" });
  let bytes = 0;
  for (let i = -2; i < times; i += 1) {
    const started = performance.now();
    const response = await fetch(server.url + path, {
      method: method ?? "POST",
      headers: {
        authorization: `Bearer ${benchKey}`,
        "content-type": "application/json",
        "accept-encoding": "identity",
      },
      ...(method === undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
    if (i >= 0) durationsMs.push(performance.now() - started);
    bytes = text.length;
  }
  const { rssBytes = 0 } = await server.ask({ ask: "memory" });
  return {
    ms_p50: round(percentile(durationsMs, 0.5), 1),
    ms_p95: round(percentile(durationsMs, 0.95), 1),
    answer_kb: Math.round(bytes / 1000),
    rss_mb_above_before: Math.round((rssBytes - idleBytes) / 1e6),
  };
}
