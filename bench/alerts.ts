import { setTimeout as sleep } from "node:timers/promises";
import { benchFolder, benchKey, startBenchServer } from "./lib/bench-server.ts";
import { machine, percentile, round } from "./lib/figures.ts";

/**
 * One round of `--rules` alert rules (windows of 5 to 15 minutes, half of them grouped by customer) while 10,000 spans
 * a minute arrive and a client lists spans: the length of the round, and its effect on the lists. Many rules query the
 * same figures of the same spans; with `--distinct 1`, each has a different filter. `--rounds` (at least 2, the default)
 * start with the minute. Lists are compared twice: those that began during a round, and all of whole minutes.
 */
export async function run(options: Map<string, string>): Promise<object> {
  const rules = Number(options.get("rules") ?? 200);
  const wanted = Number(options.get("rounds") ?? 2);
  const isDistinct = options.has("distinct");
  const folder = benchFolder();
  const server = await startBenchServer(folder.path);
  const call = caller(server.url);
  const spans = (n: number, withinMs: number) =>
    call("POST", "/api/request-logs/bulk/", { logs: Array.from({ length: n }, () => span(withinMs)) });
  for (let sent = 0; sent < 20 * spansPerMinute; sent += 500) await spans(500, 20 * 60_000);

  const ending = new AbortController();
  const arriving = (async () => {
    while (!ending.signal.aborted) {
      await spans(500, 1_000);
      await sleep(60_000 / (spansPerMinute / 500));
    }
  })();
  const lists: Array<{ atMs: number; ms: number }> = [];
  const listing = (async () => {
    while (!ending.signal.aborted) {
      const atMs = Date.now();
      const startedMs = performance.now();
      await call("POST", "/api/request-logs/list/?page_size=50", { filters: { model: "model-1" } });
      lists.push({ atMs, ms: performance.now() - startedMs });
      await sleep(20);
    }
  })();
  await sleep(20_000);
  const before = lists.map(({ ms }) => ms);
  for (let index = 0; index < rules; index += 1) await call("POST", "/api/alerts/", rule(index, isDistinct));

  const evaluated = async () =>
    Number(
      /^spanway_alert_evaluations_total\{outcome="evaluated"\} (\d+)$/m.exec(await call("GET", "/metrics"))?.[1] ?? 0,
    );
  // The first evaluations start when the rules are created; the next rounds start with the minutes.
  await sleep(10_000);
  const rounds: number[] = [];
  const starts: number[] = [];
  const during: number[] = [];
  while (rounds.length < wanted) {
    // Windows are evaluated from five seconds after their end.
    await sleep(63_000 - (Date.now() % 60_000));
    const first = await evaluated();
    await sleep(5_000 - (Date.now() % 60_000));
    const startedMs = Date.now();
    starts.push(startedMs);
    while ((await evaluated()) < first + rules && Date.now() < startedMs + 50_000) await sleep(50);
    const endedMs = Date.now();
    rounds.push((endedMs - startedMs) / 1_000);
    during.push(...lists.filter(({ atMs }) => atMs >= startedMs && atMs <= endedMs).map(({ ms }) => ms));
  }
  ending.abort();
  await Promise.all([arriving, listing]);
  await server.stop();
  folder.remove();
  // Whole minutes, each with one round.
  const minutes = lists.filter(({ atMs }) => atMs >= (starts[0] ?? 0) && atMs < (starts.at(-1) ?? 0));
  const [listMs = 0, listDuringMs = 0, listMinutesMs = 0] = [before, during, minutes.map(({ ms }) => ms)].map((all) =>
    percentile(all, 0.5),
  );
  return {
    machine: machine(),
    rules,
    isDistinct,
    spansPerMinute,
    roundSeconds: rounds.map((seconds) => round(seconds)),
    listMs: round(listMs),
    listDuringMs: round(listDuringMs),
    listRatio: round(listDuringMs / listMs),
    listMinutesMs: round(listMinutesMs),
    listMinutesRatio: round(listMinutesMs / listMs),
  };
}

const spansPerMinute = 10_000;

/** Sends a request with the key of the bench, and returns the text of the response. */
const caller =
  (url: string) =>
  async (method: string, path: string, body?: unknown): Promise<string> => {
    const headers = { authorization: `Bearer ${benchKey}`, "content-type": "application/json" };
    const sent = body !== undefined && { body: JSON.stringify(body) };
    const answer = await fetch(url + path, { method, headers, ...sent });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return await answer.text();
  };

function span(withinMs: number): object {
  const any = (n: number) => Math.floor(Math.random() * n);
  return {
    timestamp: new Date(Date.now() - any(withinMs)).toISOString(),
    log_type: "chat",
    model: `model-${any(8)}`,
    customer_identifier: `customer-${any(100)}`,
    cost: any(1_000) / 1e5,
    latency: any(5_000) / 1e3,
    status: any(50) === 0 ? "failed" : "success",
    prompt_tokens: any(2_000),
    completion_tokens: any(500),
    input: "x".repeat(500),
    output: "y".repeat(500),
  };
}

const metrics = ["total_cost", "error_percentage", "p95_latency", "number_of_requests"];

function rule(index: number, isDistinct: boolean): object {
  return {
    name: `Rule ${index}`,
    filters: { model: `model-${index % 8}`, ...(isDistinct && { latency: { operator: "gte", value: [index / 1e3] } }) },
    metric: metrics[index % metrics.length],
    window: index % 3 === 0 ? "15m" : "5m",
    operator: "gt",
    threshold: 1e9,
    group_by: index % 2 === 0 ? "customer_identifier" : null,
  };
}
