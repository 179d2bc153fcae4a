import { startBenchServer } from "./lib/bench-server.ts";
import { machine } from "./lib/figures.ts";
import { sumsReady } from "./lib/sums-ready.ts";
import { timedRead, type Question } from "./lib/timed-read.ts";
import { traceFolder } from "./lib/trace-folder.ts";

/**
 * Reads of a page over an hour with 200,000 agent spans: traces of ten spans, whose root restates the usage of its
 * calls and is the only one to name the customer. The server has one core, and has built its stored sums before the
 * reads. `--data FOLDER` keeps the filled table for the next run.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rows = Number(options.get("rows") ?? 200_000);
  const times = Number(options.get("times") ?? 30);
  const folder = await traceFolder({ reused: options.get("data"), rows, isWrapped: true });
  const server = await startBenchServer(folder.path, {}, { isPinned: true });
  const figures: Record<string, object> = {};
  const sums_stored_after_s = Math.round(await sumsReady(server));
  for (const question of questions) {
    figures[question.name] = await timedRead(server, question, times);
    console.log(question.name, JSON.stringify(figures[question.name]));
  }
  await server.stop();
  folder.remove();
  return { machine: machine(), rows, sums_stored_after_s, ...figures };
}

const hour = "start_time=2026-05-05T05:00:00Z&end_time=2026-05-05T06:00:00Z";
const is = (value: string): object => ({ operator: "", value: [value] });
const questions: Question[] = [
  { name: "newest_traces", path: `/api/traces/list/?${hour}` },
  { name: "summary", path: `/api/request-logs/summary/?${hour}` },
  { name: "groups_by_model", path: `/api/request-logs/groups/?group_by=model&${hour}` },
  {
    name: "list_by_customer",
    path: `/api/request-logs/list/?${hour}`,
    body: { filters: { customer_identifier: is("user_70") } },
  },
  {
    name: "filtered_summary",
    path: `/api/request-logs/summary/?${hour}`,
    body: { filters: { model: is("gpt-4o"), metadata__tenant: is("t7") } },
  },
  {
    name: "substring_search",
    path: `/api/request-logs/list/?${hour}`,
    body: { filters: { messages: { operator: "icontains", value: ["case 1234."] } } },
  },
  {
    name: "list_by_metadata",
    path: `/api/request-logs/list/?${hour}`,
    body: { filters: { metadata__tenant: is("t7") } },
  },
  { name: "one_trace", path: "/api/traces/1f500cd704ef93540cc4e40feac82d8d/", method: "GET" },
];
