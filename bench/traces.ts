import { startBenchServer } from "./lib/bench-server.ts";
import { machine } from "./lib/figures.ts";
import { timedRead, type Question } from "./lib/timed-read.ts";
import { traceFolder } from "./lib/trace-folder.ts";

/**
 * Traces through the API: the list of one hour that contains 300,000 spans, and traces of 1,000 and of 45,000 spans.
 * The hour has traces of ten spans: an agent, three model calls, six tools. With `--wrapped 1` every agent restates the
 * usage of its model calls. `--data FOLDER` keeps the filled table for the next run.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 300_000);
  const times = Number(options.get("times") ?? 30);
  const folder = await traceFolder({ reused: options.get("data"), rows, isWrapped: options.get("wrapped") === "1" });
  const server = await startBenchServer(folder.path);
  const figures: Record<string, object> = {};
  for (const question of questions) {
    figures[question.name] = await timedRead(server, question, times);
    console.log(question.name, JSON.stringify(figures[question.name]));
  }
  await server.stop();
  folder.remove();
  return { machine: machine(), rows, ...figures };
}

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
